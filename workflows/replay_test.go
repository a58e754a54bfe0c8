package workflows

import (
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// histories were recorded on a real server by the TestRecord functions. Workflow code
// that decides otherwise than it did then can't take over the evaluations that
// are running when it is deployed.
const histories = "testdata/histories"

// recorded are the histories that there have to be.
var recorded = []string{
	"evaluate-completed", "evaluate-cancelled", "chunk-completed",
	"evaluate-paused", "chunk-paused", "dialogue-paused", "evaluate-exemplars", "exemplar-rendered",
	"dialogue-both", "dialogue-early-stop", "dialogue-analytic", "dialogue-affinity",
	"dialogue-yes", "dialogue-no", "dialogue-unresolved", "dialogue-stored-clip", "dialogue-text", "dialogue-failed", "dialogue-cancelled",
	"limiter-cancelled", "sensitivity-completed", "scheduled-completed", "scheduled-cancelled",
	"study-completed", "study-cancelled", "assignment-finished", "assignment-cancelled", "assignment-expired",
}

func TestReplay(t *testing.T) {
	replayer := worker.NewWorkflowReplayer()
	Register(replayer)
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(silent{}, historyFile(histories, name)); err != nil {
				t.Error(err)
			}
		})
	}
}

func historyFile(folder, name string) string { return filepath.Join(folder, name+".json") }

// The replay must be able to fail: another workflow under the same name, and a
// step that was not there when the history was recorded.
func TestReplaySeesChanges(t *testing.T) {
	for name, changed := range map[string]func(workflow.Context, evaluation.Task) (DialogueResult, error){
		"nothing is done": func(workflow.Context, evaluation.Task) (DialogueResult, error) { return DialogueResult{}, nil },
		"a further step": func(ctx workflow.Context, task evaluation.Task) (DialogueResult, error) {
			if err := workflow.Sleep(ctx, 1); err != nil {
				return DialogueResult{}, err
			}
			return EvaluateDialogue(ctx, task)
		},
	} {
		t.Run(name, func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflowWithOptions(changed, workflow.RegisterOptions{Name: "EvaluateDialogue"})
			// TMPRL1100 is how the SDK marks a workflow that is not deterministic.
			err := replayer.ReplayWorkflowHistoryFromJSONFile(silent{}, historyFile(histories, "dialogue-yes"))
			if err == nil || !strings.Contains(err.Error(), "TMPRL1100") {
				t.Errorf("error %v, want that the workflow is not deterministic", err)
			}
		})
	}
}
