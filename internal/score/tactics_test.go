package score

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func TestCountTactics(t *testing.T) {
	yes := func(t tactic.Tactic) Item {
		return Item{Truth: dialogue.Yes, Verdict: vote.Yes, Tactic: t}
	}
	items := []Item{
		yes(tactic.Shaming), yes(tactic.None), yes(""), yes(tactic.Accusation), yes("Gaslighting"),
		{Truth: dialogue.No, Verdict: vote.Yes, Tactic: tactic.Denial},
		{Truth: dialogue.Yes, Verdict: vote.No, Tactic: tactic.Denial},
		{Truth: dialogue.Yes, Verdict: vote.Yes, Tactic: tactic.Denial, Failed: true},
	}
	got := CountTactics(items, dialogue.Yes)
	want := TacticTable{N: 5, Undetermined: 2, Rows: []TacticRow{{tactic.Accusation, 1, 20}, {tactic.Shaming, 1, 20}, {tactic.None, 1, 20}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(CountTactics(nil, dialogue.Yes))
	if err != nil || string(data) != `{"n":0,"rows":[],"undetermined":0}` {
		t.Errorf("empty table: %s, %v", data, err)
	}
}

func TestTacticAccuracy(t *testing.T) {
	named := func(v vote.Verdict, predicted tactic.Tactic, truth ...tactic.Tactic) Item {
		return Item{Truth: dialogue.Yes, Tactics: truth, Verdict: v, Tactic: predicted}
	}
	failed := named(vote.Yes, tactic.Denial, tactic.Denial)
	failed.Failed = true
	got := MeasureTactics([]Item{
		named(vote.Yes, tactic.Denial, tactic.Shaming, tactic.Denial), // a hit: one of several
		named(vote.Yes, tactic.Anger, tactic.Denial),                  // a miss
		named(vote.Yes, "", tactic.Shaming),                           // a miss: no tactic
		named(vote.No, tactic.Denial, tactic.Denial),                  // a miss end to end
		named(vote.Unresolved, "", tactic.Evasion),                    // open
		failed,                       // open
		named(vote.Yes, tactic.None), // names no technique: not counted
		{Truth: dialogue.No, Tactics: []tactic.Tactic{tactic.Denial}, Verdict: vote.Yes, Tactic: tactic.Denial},
	})
	want := TacticAccuracy{
		Named:       6,
		Conditional: TacticHit{Rate: Wilson(1, 3), Constant: tactic.Denial, ConstantRate: Wilson(2, 3)},
		EndToEnd:    TacticHit{Rate: Wilson(1, 5), Constant: tactic.Denial, ConstantRate: Wilson(3, 5)},
		Worst:       defined(1.0 / 6),
		Best:        defined(3.0 / 6),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if none := MeasureTactics(nil); none.EndToEnd.Value.Defined || none.Worst.Defined || none.EndToEnd.Constant != "" {
		t.Errorf("no items: %+v, want undefined rates", none)
	}
}
