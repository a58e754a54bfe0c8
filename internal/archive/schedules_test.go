package archive

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
)

func TestSchedules(t *testing.T) {
	a, ctx := Archive{Store: mem.New()}, t.Context()
	s := evaluation.Schedule{ID: "nightly", Baseline: "base", Created: time.Unix(1, 0).UTC(), Limits: []evaluation.LossLimit{{Metric: "recall"}}}
	for range 2 { // the same again is no other
		if _, err := a.PutSchedule(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	other := s
	other.Baseline = "other"
	if _, err := a.PutSchedule(ctx, other); !errors.Is(err, ErrScheduleUsed) {
		t.Errorf("another under the same id: %v", err)
	}
	got, err := a.Schedule(ctx, "nightly")
	if diff := cmp.Diff(s, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	// In the order of their times, whatever their ids.
	late := evaluation.Firing{Schedule: "nightly", Evaluation: "nightly-a", Due: time.Unix(20, 0).UTC()}
	early := evaluation.Firing{Schedule: "nightly", Evaluation: "nightly-b", Due: time.Unix(10, 0).UTC()}
	for _, f := range []evaluation.Firing{late, early, late} {
		if err := a.PutFiring(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	firings, err := a.Firings(ctx, "nightly")
	if diff := cmp.Diff([]evaluation.Firing{early, late}, firings); err != nil || diff != "" {
		t.Errorf("firings: %v (-want +got):\n%s", err, diff)
	}

	// A look is one evaluation's alone.
	first := evaluation.Outcome{Schedule: "nightly", Evaluation: "nightly-a", Look: 1, Regression: evaluation.RegressionNone}
	second := first
	second.Evaluation = "nightly-b"
	for _, try := range []struct {
		outcome evaluation.Outcome
		want    bool
	}{{first, true}, {second, false}, {first, true}} {
		if ok, err := a.PutOutcome(ctx, try.outcome); err != nil || ok != try.want {
			t.Errorf("%s: %t, %v", try.outcome.Evaluation, ok, err)
		}
	}
	outcomes, err := a.Outcomes(ctx, "nightly")
	if len(outcomes) != 1 || outcomes[0].Evaluation != "nightly-a" || err != nil {
		t.Errorf("outcomes: %v, %+v", err, outcomes)
	}
	for id, want := range map[string]bool{"nightly-a": true, "nightly-b": false} {
		if o, err := a.outcome(ctx, id); err != nil || (o != nil) != want {
			t.Errorf("beside %s: %v, %v", id, o, err)
		}
	}
}
