package workflows

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Every casting of a dialogue is a workflow of its own, and a dialogue with one has
// the id that it always had.
func TestCastingsAreWorkflows(t *testing.T) {
	f := newFakes()
	f.chunks["chunk"] = evaluation.Chunk{Items: []evaluation.Item{{ID: "a", CastingNumber: 1}, {ID: "a", CastingNumber: 2}, {ID: "b"}}}
	env := environment(t, f)
	env.RegisterWorkflow(EvaluateChunk)
	var mu sync.Mutex
	started := map[string]evaluation.Item{}
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context, task evaluation.Task) (DialogueResult, error) {
		mu.Lock()
		defer mu.Unlock()
		started[workflow.GetInfo(ctx).WorkflowExecution.ID] = task.Item
		return DialogueResult{Verdict: vote.Yes}, nil
	}, workflow.RegisterOptions{Name: "EvaluateDialogue"})
	env.ExecuteWorkflow(EvaluateChunk, ChunkInput{Evaluation: "e", Manifest: ref("manifest"), Engines: ref("engines"), Chunk: ref("chunk"), Dialogues: 4})
	var counts evaluation.Counts
	if err := env.GetWorkflowResult(&counts); err != nil {
		t.Fatal(err)
	}
	want := map[string]evaluation.Item{"e/d-a=c1": {ID: "a", CastingNumber: 1}, "e/d-a=c2": {ID: "a", CastingNumber: 2}, "e/d-b": {ID: "b"}}
	if diff := cmp.Diff(want, started); diff != "" || counts.Done != 3 {
		t.Errorf("%d done, workflows (-want +got):\n%s", counts.Done, diff)
	}
}
