package report

import (
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// AnnotatedTactics counts the techniques that the manipulative headline items are
// annotated with: of all of them, and given the verdict. N is the number of
// mentions, as an item may name several.
type AnnotatedTactics struct {
	All        score.TacticTable `json:"all"`
	CalledYes  score.TacticTable `json:"called_yes"`
	CalledNo   score.TacticTable `json:"called_no"`
	Unresolved score.TacticTable `json:"unresolved"`
}

func countAnnotated(items []score.Item) AnnotatedTactics {
	var all []tactic.Tactic
	given := map[vote.Verdict][]tactic.Tactic{}
	for _, it := range items {
		if it.Truth != dialogue.Yes {
			continue
		}
		all = append(all, it.Tactics...)
		if !it.Failed {
			given[it.Verdict] = append(given[it.Verdict], it.Tactics...)
		}
	}
	return AnnotatedTactics{
		All: score.Table(all), CalledYes: score.Table(given[vote.Yes]),
		CalledNo: score.Table(given[vote.No]), Unresolved: score.Table(given[vote.Unresolved]),
	}
}
