package report

import (
	"cmp"
	"slices"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Reliability compares the constrained p(A) at T = 1, or p(B) where B stands for
// YES, as the detector's server gave it, with how often the truth is YES. It is
// calibrated on nothing and no confidence.
type Reliability struct {
	Letter string `json:"letter"` // that stands for YES in the usual order
	N      int    `json:"n"`      // items all of whose passes were constrained and observed
	Others int    `json:"others"` // the other scored ones
	// Brier is the mean squared distance of p from the truth; BrierPrevalence that of
	// always saying the items' own share of YES.
	Brier           score.Estimate   `json:"brier"`
	BrierPrevalence score.Figure     `json:"brier_of_prevalence"`
	Bins            []ReliabilityBin `json:"bins"` // of about equal count, by p
}

// ReliabilityBin is the items of like p.
type ReliabilityBin struct {
	From float64    `json:"from"` // the least p
	To   float64    `json:"to"`   // the largest p
	Mean float64    `json:"mean"`
	Yes  score.Rate `json:"yes"` // how often the truth is YES
}

const (
	leastBin = 10 // of fewer items a share says nothing
	mostBins = 10
)

func measureReliability(judged []judgedItem, optionOrder string) Reliability {
	var all []score.Scored
	yes := 0
	for _, it := range judged {
		if p, ok := constrained(ordersOf(it.judgement)[0]); ok {
			all = append(all, score.Scored{ID: it.ID, Truth: it.Truth, P: p})
			if it.Truth == dialogue.Yes {
				yes++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b score.Scored) int { return cmp.Compare(a.P, b.P) })
	out := Reliability{Letter: "A", N: len(all), Others: len(judged) - len(all), Bins: []ReliabilityBin{}}
	if optionOrder == evaluation.OrderSwapped {
		out.Letter = "B"
	}
	out.Brier = score.EstimateBrier(all, score.DefaultBootstrap())
	out.BrierPrevalence = score.Figure{Reason: "no items"}
	if len(all) > 0 {
		share := float64(yes) / float64(len(all))
		out.BrierPrevalence = score.Figure{Value: share * (1 - share), Defined: true}
	}
	for _, part := range equalParts(all, min(mostBins, max(1, len(all)/leastBin))) {
		out.Bins = append(out.Bins, newReliabilityBin(part))
	}
	return out
}

func newReliabilityBin(part []score.Scored) ReliabilityBin {
	sum := 0.0
	var trials []score.Trial
	for _, s := range part {
		sum += s.P
		trials = append(trials, score.Trial{ID: s.ID, Hit: s.Truth == dialogue.Yes})
	}
	return ReliabilityBin{From: part[0].P, To: part[len(part)-1].P, Mean: sum / float64(len(part)), Yes: score.Share(trials)}
}

// equalParts cuts sorted items into at most n parts of about the same count; those
// of equal p stay together, so that no part depends on their order.
func equalParts(sorted []score.Scored, n int) [][]score.Scored {
	var out [][]score.Scored
	start := 0
	for i := 1; i <= n && start < len(sorted); i++ {
		end := max(len(sorted)*i/n, start+1)
		for end < len(sorted) && sorted[end].P == sorted[end-1].P {
			end++
		}
		out = append(out, sorted[start:end])
		start = end
	}
	return out
}

// constrained returns p(YES) where every pass was constrained to the letters, and
// observed.
func constrained(o order) (p float64, ok bool) {
	for _, pass := range o.passes {
		if pass.Method != vote.Constrained {
			return 0, false
		}
	}
	return o.pYes()
}
