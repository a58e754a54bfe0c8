package workflows

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

func TestEvaluateTellsItsSettings(t *testing.T) {
	f, c := newFakes(), &chunks{}
	env := evaluateEnvironment(t, f, c)
	in := inputOf(1)
	in.Settings = evaluation.Settings{Dataset: "quarrels", Detector: "chat", Limits: in.Limits}
	env.ExecuteWorkflow(Evaluate, in)
	value, err := env.QueryWorkflow(evaluation.QuerySettings)
	if err != nil {
		t.Fatal(err)
	}
	var got evaluation.Settings
	if err := value.Get(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.Settings, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
