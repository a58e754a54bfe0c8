package trend

import (
	"cmp"
	"slices"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// ChooseCanary picks at most n of a baseline's items, with the answers that it had.
// They are spread evenly over the answers, so that some are sure and some are not;
// items without an answer, or without a clip where clips are heard, are never picked.
func ChooseCanary(spec evaluation.Spec, items []evaluation.Item, records []evaluation.Record, n int) []evaluation.CanaryItem {
	kept, _ := evaluation.Again(items, records, spec.Heard())
	found := map[evaluation.Rendition]evaluation.Record{}
	for _, r := range records {
		found[r.Rendition()] = r
	}
	var all []evaluation.CanaryItem
	for _, item := range kept {
		r, ok := found[item.Rendition()]
		if !ok || r.Failure != nil {
			continue
		}
		answer := evaluation.AnswerOf(r, spec.Rules.Votes)
		if answer.P.Observed || answer.Drawn > 0 {
			all = append(all, evaluation.CanaryItem{Item: item, Answer: answer})
		}
	}
	slices.SortStableFunc(all, func(a, b evaluation.CanaryItem) int {
		return cmp.Or(cmp.Compare(a.Answer.P.P, b.Answer.P.P), cmp.Compare(a.Answer.Yes, b.Answer.Yes), a.Item.Rendition().Compare(b.Item.Rendition()))
	})
	if len(all) <= n {
		return all
	}
	var out []evaluation.CanaryItem
	for i := range n {
		at := 0
		if n > 1 {
			at = i * (len(all) - 1) / (n - 1)
		}
		out = append(out, all[at])
	}
	return out
}
