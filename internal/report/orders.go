package report

import (
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Orders compares the answers with the option letters in their usual order and
// with the letters exchanged.
type Orders struct {
	N     int        `json:"n"`      // dialogues asked in both orders
	Flips score.Rate `json:"flips"`  // other verdicts, of those decided in both orders
	ToYes int        `json:"to_yes"` // of the flips, from NO in the usual order to YES
	ToNo  int        `json:"to_no"`  // from YES to NO
	// Shift is p(YES) with the letters exchanged minus p(YES) in the usual order, of
	// the dialogues where both were observed.
	Shift      score.Mean `json:"shift"`
	Unobserved int        `json:"unobserved"` // of N, not in Shift
	// Unresolved counts the verdicts UNRESOLVED of both orders together: every flip,
	// and those where one order, or neither, decided.
	Unresolved int `json:"unresolved"`
	OneDecided int `json:"one_decided"`
	NoDecided  int `json:"none_decided"`
}

// compareOrders returns nil when no dialogue was asked in both orders.
func compareOrders(judgements []evaluation.Judgement) *Orders {
	var out Orders
	decided := 0
	var shifts []float64
	for _, j := range judgements {
		if j.Swapped == nil {
			continue
		}
		out.N++
		both := ordersOf(j)
		before, after := both[0].outcome.Verdict, both[1].outcome.Verdict
		switch open := vote.Unresolved; {
		case before == open && after == open:
			out.NoDecided++
		case before == open || after == open:
			out.OneDecided++
		default:
			decided++
			if before != after && after == vote.Yes {
				out.ToYes++
			} else if before != after {
				out.ToNo++
			}
		}
		p, observed := both[0].pYes()
		q, observedToo := both[1].pYes()
		if observed && observedToo {
			shifts = append(shifts, q-p)
		}
	}
	if out.N == 0 {
		return nil
	}
	flips := out.ToYes + out.ToNo
	out.Flips = score.Wilson(flips, decided)
	out.Shift = score.MeanOf(shifts)
	out.Unobserved = out.N - len(shifts)
	out.Unresolved = flips + out.OneDecided + out.NoDecided
	return &out
}

// pYes returns p(YES) as it was before sampling: the mean of the passes'. It is
// observed where every pass observed it, as what wasn't observed is small and
// would be missing in the mean.
func (o order) pYes() (p float64, observed bool) {
	if o.analytic != nil {
		mass := o.analytic.Choice.PYes
		return share(mass.P), mass.Observed
	}
	for _, pass := range o.passes {
		if !pass.PYes.Observed {
			return 0, false
		}
		p += share(pass.PYes.P)
	}
	return p / float64(max(len(o.passes), 1)), len(o.passes) > 0
}
