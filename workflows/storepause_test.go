package workflows

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

func fullStore() error {
	return temporal.NewApplicationErrorWithOptions("write: no space", "store_full", temporal.ApplicationErrorOptions{
		NonRetryable: true, Details: []any{evaluation.Reason{Code: "store_full", Message: "write: no space"}},
	})
}

// Every step that writes waits for space, the last ones too: nothing fails.
func TestFullStorePausesEverywhere(t *testing.T) {
	for _, step := range []string{
		"SaveEngines", "LoadChunk", "PlanDialogue", "SynthesizeTurn 1", "ComposeClip", "RecognizeClip",
		"MeasureClip", "PrepareItem", "DetectPass 2", "SaveRecord", "CloseChunk 0", "WriteReport",
	} {
		t.Run(step, func(t *testing.T) {
			f := newFakes()
			env, in := treeOf(t, f, 4)
			f.let(step, fullStore())
			env.RegisterDelayedCallback(func() {
				p := progressOf(t, env)
				if p.Paused == nil || p.Paused.Code != "store_full" {
					t.Fatalf("progress %+v", p)
				}
				f.let(step, nil)
				env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: p.Paused.Generation + 1})
			}, time.Hour)
			env.ExecuteWorkflow(Evaluate, in)
			var result EvaluateResult
			if err := env.GetWorkflowResult(&result); err != nil {
				t.Fatal(err)
			}
			if p := result.Progress; p.Done != 4 || p.Failed != 0 || p.Paused != nil {
				t.Errorf("progress %+v", p)
			}
			for _, record := range f.records {
				if record.Failure != nil {
					t.Errorf("failure %+v", record.Failure)
				}
			}
		})
	}
}

// Cancelled while it waits to write its report, an evaluation tries once more and
// ends.
func TestCancelWhileReportWaits(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 1)
	f.let("WriteReport", fullStore())
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	env.ExecuteWorkflow(Evaluate, in)
	if err := env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Errorf("ended with %v", err)
	}
	if diff := cmp.Diff(2, f.count("WriteReport")); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}
