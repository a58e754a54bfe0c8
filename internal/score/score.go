// Package score compares verdicts and tactics with the ground truth: confusion,
// classification, tactic tables, intervals and baselines, with n, failures and
// bounds always beside the figures.
package score

import (
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Item is one dialogue of an evaluation with what was decided about it.
type Item struct {
	ID      string
	Truth   dialogue.Truth
	Tactics []tactic.Tactic // annotated; empty when none is named
	Verdict vote.Verdict
	Tactic  tactic.Tactic // predicted; "" when the verdict is not YES or no tactic pass could say
	Seen    bool          // the detector was trained or tuned on it
	Failed  bool          // it ended without a verdict; Verdict and Tactic don't count
}

// failed reports whether the item ended without a verdict.
func (it Item) failed() bool {
	return it.Failed || (it.Verdict != vote.Yes && it.Verdict != vote.No && it.Verdict != vote.Unresolved)
}

// Split returns the items that the detector has not seen, and those it has, in
// their order. Headline figures are of the unseen ones.
func Split(items []Item) (unseen, seen []Item) {
	for _, it := range items {
		if it.Seen {
			seen = append(seen, it)
		} else {
			unseen = append(unseen, it)
		}
	}
	return unseen, seen
}

// Result is everything this package says about one set of items.
type Result struct {
	Tally
	Classification Classification `json:"classification"`
	Baselines      []Baseline     `json:"baselines"`
	TacticsYes     TacticTable    `json:"tactics_yes"` // of the clips that are manipulative
	TacticsNo      TacticTable    `json:"tactics_no"`  // of those that are not
	TacticAccuracy TacticAccuracy `json:"tactic_accuracy"`
}

// Score scores one set of items; their order doesn't matter.
func Score(items []Item) Result {
	tally := Count(items)
	return Result{
		Tally:          tally,
		Classification: Classify(tally.Confusion, tally.Failed),
		Baselines:      Baselines(tally.Confusion),
		TacticsYes:     CountTactics(items, dialogue.Yes),
		TacticsNo:      CountTactics(items, dialogue.No),
		TacticAccuracy: MeasureTactics(items),
	}
}
