package score

import (
	"slices"
	"sort"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Scored is one dialogue with truth and the observed probability of YES.
type Scored struct {
	Truth dialogue.Truth
	P     float64
}

// AUC returns the probability that a manipulative dialogue is given a higher
// p(YES) than another one, ties counted half: the area under the ROC curve, from
// the Mann-Whitney statistic (J. A. Hanley, B. J. McNeil, Radiology 143, 1982).
// It is undefined without dialogues of both truths; others count nowhere.
func AUC(scored []Scored) Figure {
	return auc(byTruth(scored))
}

// EstimateAUC returns it with its interval, from draws of the dialogues of each
// truth.
func EstimateAUC(scored []Scored, b Bootstrap) Estimate {
	return Resample(byTruth(scored), b, auc)
}

// byTruth returns the probabilities of truth YES and of truth NO.
func byTruth(scored []Scored) [][]float64 {
	strata := make([][]float64, 2)
	for _, s := range scored {
		switch s.Truth {
		case dialogue.Yes:
			strata[0] = append(strata[0], s.P)
		case dialogue.No:
			strata[1] = append(strata[1], s.P)
		}
	}
	return strata
}

func auc(strata [][]float64) Figure {
	yes, no := strata[0], strata[1]
	if len(yes) == 0 || len(no) == 0 {
		return undefined("no dialogues of one truth")
	}
	sorted := slices.Sorted(slices.Values(no))
	wins := 0.0
	for _, p := range yes {
		below := sort.Search(len(sorted), func(i int) bool { return sorted[i] >= p })
		notAbove := sort.Search(len(sorted), func(i int) bool { return sorted[i] > p })
		wins += float64(below+notAbove) / 2
	}
	return defined(wins / float64(len(yes)) / float64(len(no)))
}
