//go:build integration && linux

package workflows

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// TestLimiterGoesOn asks a limiter on a real server so often that it has to continue
// as new, from several workers at once: every ask is answered, at the second try at
// the latest, and the history stays short.
func TestLimiterGoesOn(t *testing.T) {
	r := newRecorder(t)
	id := evaluation.LimiterWorkflowID("busy")
	ask := func(lease evaluation.Lease) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		handle, err := r.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: r.client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
				ID: id, TaskQueue: evaluation.QueueMain, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			}, Limiter, LimiterState{}),
			UpdateOptions: client.UpdateWorkflowOptions{
				UpdateName: evaluation.UpdateLease, Args: []any{lease}, WaitForStage: client.WorkflowUpdateStageCompleted,
			},
		})
		if err != nil {
			return err
		}
		var slots evaluation.Slots
		if err := handle.Get(ctx, &slots); err != nil {
			return err
		}
		if slots.Ceiling != 6 || slots.Slots > 6 {
			return fmt.Errorf("answered %+v", slots)
		}
		return nil
	}
	const workers, asks = 4, 150
	var wg sync.WaitGroup
	var mu sync.Mutex
	again := 0
	for w := range workers {
		wg.Go(func() {
			seq := 0
			for range asks {
				lease := evaluation.Lease{Worker: fmt.Sprint("w", w), Want: 6, Bound: 6, Expiry: evaluation.LeaseExpiry}
				seq++
				lease.Seq = seq
				err := ask(lease)
				if err != nil {
					mu.Lock()
					again++
					mu.Unlock()
					t.Logf("asked again after: %v", err)
					seq++
					lease.Seq = seq
					err = ask(lease)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	last, err := r.client.DescribeWorkflow(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	info := last.RawResponse.WorkflowExecutionInfo
	if info.FirstRunId == info.Execution.RunId {
		t.Errorf("%d asks and still the first run, of %d events", workers*asks, info.HistoryLength)
	}
	if info.HistoryLength > 2*maxEvents {
		t.Errorf("the history has %d events", info.HistoryLength)
	}
	t.Logf("%d asks, %d of them twice; the run has %d events", workers*asks, again, info.HistoryLength)
}
