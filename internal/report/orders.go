package report

import (
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

	Gaps score.Gaps `json:"gaps"` // right in the usual order minus right with the letters exchanged
}

// compareOrders returns nil when no item was asked in both orders.
func compareOrders(judged []judgedItem) *Orders {
	var out Orders
	var flips []score.Trial // whether an item decided in both orders is a flip
	var shifts []score.Valued
	var pairs []score.Pair
	for _, it := range judged {
		if it.judgement.Swapped == nil {
			continue
		}
		out.N++
		both := ordersOf(it.judgement)
		before, after := both[0].outcome.Verdict, both[1].outcome.Verdict
		switch open := vote.Unresolved; {
		case before == open && after == open:
			out.NoDecided++
		case before == open || after == open:
			out.OneDecided++
		default:
			flips = append(flips, score.Trial{ID: it.ID, Hit: before != after})
			if before != after && after == vote.Yes {
				out.ToYes++
			} else if before != after {
				out.ToNo++
			}
		}
		p, observed := both[0].pYes()
		q, observedToo := both[1].pYes()
		if observed && observedToo {
			shifts = append(shifts, score.Valued{ID: it.ID, Value: q - p})
		}
		pairs = append(pairs, score.Pair{ID: it.ID, Truth: it.Truth, First: before, Second: after})
	}
	if out.N == 0 {
		return nil
	}
	out.Flips = score.Share(flips)
	out.Shift = score.MeanByDialogue(shifts)
	out.Unobserved = out.N - len(shifts)
	out.Unresolved = out.ToYes + out.ToNo + out.OneDecided + out.NoDecided
	out.Gaps = score.Compare(pairs)
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
