package score

import (
	"cmp"
	"slices"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Scored is one item with truth and the observed probability of YES.
type Scored struct {
	ID    string // the dialogue's; an empty one is a dialogue of its own
	Truth dialogue.Truth
	P     float64
}

// AUC returns the probability that a manipulative item is given a higher p(YES)
// than another one, ties counted half: the area under the ROC curve, from the
// Mann-Whitney statistic (J. A. Hanley, B. J. McNeil, Radiology 143, 1982). It is
// undefined without items of both truths; others count nowhere.
func AUC(scored []Scored) Figure { return EstimateAUC(scored, Bootstrap{}).Value }

// EstimateAUC returns it with its interval, from draws of the dialogues of each
// truth.
func EstimateAUC(scored []Scored, b Bootstrap) Estimate {
	s := sampleScored(scored)
	order := make([]int, len(s.items)) // by p, so that a draw needs no sorting
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.items[a].P, s.items[b].P) })
	return Resample(s.strata(), b, func(weights []int) []Figure {
		wins, yes, no := 0, 0, 0 // wins are counted twice, so that ties are whole
		for i := 0; i < len(order); {
			tiedYes, tiedNo := 0, 0
			for p := s.items[order[i]].P; i < len(order) && s.items[order[i]].P == p; i++ {
				if unit := s.unit[order[i]]; s.isYes(unit) {
					tiedYes += weights[unit]
				} else {
					tiedNo += weights[unit]
				}
			}
			wins += tiedYes * (2*no + tiedNo)
			yes, no = yes+tiedYes, no+tiedNo
		}
		return []Figure{ratio(wins, 2*yes*no, "no items of one truth")}
	})[0]
}

// EstimateBrier returns the mean squared distance of p(YES) from the truth, 1 or 0
// (G. W. Brier, Monthly Weather Review 78, 1950), with its interval.
func EstimateBrier(scored []Scored, b Bootstrap) Estimate {
	s := sampleScored(scored)
	sums, counts := make([]float64, s.yes+s.no), make([]int, s.yes+s.no)
	for i, it := range s.items {
		unit := s.unit[i]
		off := it.P
		if s.isYes(unit) {
			off = 1 - it.P
		}
		sums[unit] += off * off
		counts[unit]++
	}
	return Resample(s.strata(), b, func(weights []int) []Figure {
		sum, n := 0.0, 0
		for unit, w := range weights {
			sum, n = sum+float64(w)*sums[unit], n+w*counts[unit]
		}
		return []Figure{quotient(sum, float64(n), "no items")}
	})[0]
}

func sampleScored(scored []Scored) sample[Scored] {
	return newSample(scored, func(s Scored) dialogue.Truth { return s.Truth }, func(s Scored) string { return s.ID })
}
