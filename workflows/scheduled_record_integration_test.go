//go:build integration && linux

package workflows

import (
	"context"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// PrepareFiring has an evaluation of one chunk, after a canary of another.
func (f *fakes) PrepareFiring(_ context.Context, task activities.FiringTask) (activities.FiringPlan, error) {
	stored := func(id string) activities.StoredEvaluation {
		in := inputOf(1)
		return activities.StoredEvaluation{
			Evaluation: id, Manifest: in.Manifest, Chunks: []objectstore.Ref{ref("chunk")}, Items: 3, Limits: in.Limits, DetectQueue: f.plan.DetectQueue,
			Attributes: map[string]string{evaluation.AttributeEvaluation: id},
		}
	}
	canary := stored(task.Firing.Canary)
	return activities.FiringPlan{Canary: &canary, Main: stored(task.Firing.Evaluation)}, nil
}

// CompareFiring finds a loss.
func (f *fakes) CompareFiring(_ context.Context, task activities.FiringTask) (evaluation.Outcome, error) {
	return evaluation.Outcome{Schedule: "nightly", Evaluation: task.Firing.Evaluation, Look: 1, Regression: evaluation.RegressionShown}, nil
}

// Notify fails for good.
func (f *fakes) Notify(context.Context, activities.NotifyTask) error {
	return temporal.NewNonRetryableApplicationError("it answered 404", "refused", nil)
}

// TestRecordScheduledHistories records firings as TestRecordHistories does evaluations,
// with the same flag: one that finds a loss and can't tell anybody, and one that is
// cancelled while its canary runs.
func TestRecordScheduledHistories(t *testing.T) {
	r := newRecorder(t)
	folder := t.TempDir()
	if *record {
		folder = histories
	}
	in := ScheduledInput{Schedule: "nightly", Stored: ref("schedule"), Canary: true, Webhook: "ci", Attributes: true}
	told := evaluation.FiringWorkflowID("nightly") + "-1"
	if err := r.run(t, told, ScheduledEvaluation, in); err != nil {
		t.Errorf("the firing ended with %v", err)
	}
	r.save(t, folder, "scheduled-completed", told)

	stopped := evaluation.FiringWorkflowID("stopped") + "-1"
	r.reset().on["DetectPass 3"] = func() { r.cancel(t, stopped) }
	if err := r.run(t, stopped, ScheduledEvaluation, in); !temporal.IsCanceledError(err) {
		t.Errorf("the cancelled firing ended with %v", err)
	}
	r.save(t, folder, "scheduled-cancelled", stopped)
	r.replay(t, folder)
}
