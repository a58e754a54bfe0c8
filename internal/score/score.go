// Package score compares verdicts and tactics with the ground truth: confusion,
// classification, tactic tables, intervals and baselines, with n, failures and
// bounds always beside the figures.
package score

import (
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Item is one clip of an evaluation with what was decided about it.
type Item struct {
	ID      string // the dialogue's: items of several castings share it; an empty one is a dialogue of its own
	Truth   dialogue.Truth
	Tactics []tactic.Tactic // annotated; empty when none is named
	Verdict vote.Verdict
	Tactic  tactic.Tactic // predicted; "" when the verdict is not YES or no tactic pass could say
	Seen    bool          // the detector was trained or tuned on it
	Failed  bool          // it ended without a verdict; Verdict and Tactic don't count
	Seconds float64       // length of the clip; 0 where it isn't known
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
	return Result{
		Tally:          Count(items),
		Classification: ClassifyItems(items),
		Baselines:      Baselines(items),
		TacticsYes:     CountTactics(items, dialogue.Yes),
		TacticsNo:      CountTactics(items, dialogue.No),
		TacticAccuracy: MeasureTactics(items),
	}
}
