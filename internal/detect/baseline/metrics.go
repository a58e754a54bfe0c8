package baseline

import (
	"cmp"
	"math"
	"slices"
)

// Metrics is how well scores tell YES from NO, deciding at 0.5.
type Metrics struct {
	N                int     `json:"n"`
	Yes              int     `json:"yes"`
	Accuracy         float64 `json:"accuracy"`
	BalancedAccuracy float64 `json:"balanced_accuracy"`
	MacroF1          float64 `json:"macro_f1"`
	AUC              float64 `json:"auc"` // 0.5 when one truth is missing
}

// measure scores predictions; a score above 0.5 says YES.
func measure(scores []float64, yes []bool) Metrics {
	counts := [2][2]float64{} // truth, prediction
	for i, s := range scores {
		counts[class(yes[i])][class(s > 0.5)]++
	}
	m := Metrics{N: len(scores), Yes: int(counts[1][0] + counts[1][1]), AUC: auc(scores, yes)}
	for k := range counts {
		hit, of, said := counts[k][k], counts[k][0]+counts[k][1], counts[0][k]+counts[1][k]
		m.Accuracy += ratio(hit, float64(len(scores)))
		m.BalancedAccuracy += ratio(hit, of) / 2
		m.MacroF1 += ratio(2*hit, of+said) / 2
	}
	return m
}

// auc returns the probability that a random YES scores above a random NO, ties
// counting half.
func auc(scores []float64, yes []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	below, pairs, positives := 0.0, 0.0, 0.0
	for i := 0; i < len(order); {
		j, tied := i, [2]float64{}
		for ; j < len(order) && scores[order[j]] == scores[order[i]]; j++ {
			tied[class(yes[order[j]])]++
		}
		pairs += tied[1] * (below + tied[0]/2)
		below += tied[0]
		positives += tied[1]
		i = j
	}
	if below == 0 || positives == 0 {
		return 0.5
	}
	return pairs / (below * positives)
}

// calibrationError is the expected calibration error over ten equal bins of the
// probability of YES: the mean gap between what is said and what is true.
func calibrationError(probabilities []float64, yes []bool) float64 {
	const bins = 10
	said, true_ := [bins]float64{}, [bins]float64{}
	for i, p := range probabilities {
		bin := min(int(p*bins), bins-1)
		said[bin] += p
		true_[bin] += float64(class(yes[i]))
	}
	gap := 0.0
	for bin := range bins {
		gap += math.Abs(said[bin] - true_[bin])
	}
	return ratio(gap, float64(len(probabilities)))
}

// platt maps log-odds to a calibrated probability.
type platt struct {
	Slope  float64 `json:"slope"`
	Offset float64 `json:"offset"`
}

func (p platt) probability(logOdds float64) float64 { return sigmoid(p.Slope*logOdds + p.Offset) }

// minCalibration is how many examples of each truth calibration needs; with
// fewer the score is left as it is.
const minCalibration = 5

// calibrate fits Platt's sigmoid with his smoothed targets, the slope penalised
// as all weights are: with little to go by the probability stays near the share
// of YES.
func calibrate(logOdds []float64, yes []bool) platt {
	n := [2]float64{}
	for _, y := range yes {
		n[class(y)]++
	}
	if n[0] < minCalibration || n[1] < minCalibration {
		return platt{Slope: 1}
	}
	smoothed := [2]float64{1 / (n[0] + 2), (n[1] + 1) / (n[1] + 2)}
	r := regression{dims: 1}
	for i, z := range logOdds {
		r.x = append(r.x, []feature{{0, z}})
		r.target = append(r.target, smoothed[class(yes[i])])
		r.weights = append(r.weights, 1)
	}
	l := r.fit()
	return platt{Slope: round(l.Weights[0]), Offset: round(l.Bias)}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
