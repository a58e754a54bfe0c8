//go:build integration && linux

package workflows

import (
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// recordLimiter saves the history of a limiter that two workers asked.
func (r *recorder) recordLimiter(t *testing.T, folder string) {
	t.Helper()
	id := evaluation.LimiterWorkflowID("recorded")
	run, err := r.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: evaluation.QueueMain}, Limiter, LimiterState{})
	if err != nil {
		t.Fatal(err)
	}
	for i, ask := range []evaluation.Lease{
		{Worker: "a", Seq: 1, Want: 8, Bound: 8},
		{Worker: "b", Seq: 1, Want: 8, Bound: 8},
		{Worker: "a", Seq: 2, Want: 8, Bound: 8, Held: 6, Congested: true},
		{Worker: "a", Seq: 2, Want: 8}, // refused: asked before
		{Worker: "b", Seq: 2, Want: 8, Bound: 8, Told: 3},
		{Worker: "a", Seq: 3},
	} {
		ask.Expiry = evaluation.LeaseExpiry
		handle, err := r.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: evaluation.UpdateLease, Args: []any{ask}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err == nil {
			err = handle.Get(t.Context(), nil)
		}
		if refused := i == 3; (err != nil) != refused {
			t.Errorf("ask %d: %v", i, err)
		}
	}
	r.cancel(t, id)
	if err := run.Get(t.Context(), nil); !temporal.IsCanceledError(err) {
		t.Errorf("the cancelled limiter ended with %v", err)
	}
	r.save(t, folder, "limiter-cancelled", id)
}
