package workflows

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

func TestDiagnose(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestWorkflowEnvironment()
	spec := evaluation.Spec{
		Speech:    evaluation.Speech{Synthesizer: "flite", Pool: voice.Pool{Name: "p"}},
		Detection: evaluation.Detection{Detector: "chat", Accelerator: "gpu-h100", Pool: "qwen"},
	}
	found := evaluation.Examined{Engine: speech.Engine{Name: "flite", Version: "2.2"}, Findings: []evaluation.Finding{{What: "speech engine", OK: true, Detail: "flite 2.2"}}}
	env.RegisterActivity(&diagnosers{map[string]answer{
		"store":    {found: evaluation.Examined{Findings: []evaluation.Finding{{What: "store", OK: true}}}},
		"speech p": {found: found},
		"clips":    {err: temporal.NewApplicationError("an old worker", "NotFound")},
		"chat":     {err: temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)},
	}})

	queues := []string{"speechmanip", "speech-flite", "audio", "detect-gpu-h100-qwen"}
	env.ExecuteWorkflow(Diagnose, evaluation.DiagnoseInput{Spec: spec, Queues: queues})
	var got evaluation.Diagnosis
	if err := env.GetWorkflowResult(&got); err != nil {
		t.Fatal(err)
	}
	want := evaluation.Diagnosis{Queues: []evaluation.QueueDiagnosis{
		{Queue: "speechmanip", Examined: evaluation.Examined{Findings: []evaluation.Finding{{What: "store", OK: true}}}},
		{Queue: "speech-flite", Examined: found},
		{Queue: "audio", Examined: evaluation.Examined{Findings: []evaluation.Finding{{What: "worker", Detail: "an old worker"}}}},
		{Queue: "detect-gpu-h100-qwen", Unserved: true, Examined: evaluation.Examined{Findings: []evaluation.Finding{{What: "worker", Detail: "no worker took the question within 5 s"}}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// One queue is asked when only one matters.
func TestDiagnoseOneQueue(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestWorkflowEnvironment()
	spec := evaluation.Spec{Speech: evaluation.Speech{Synthesizer: "flite"}}
	env.RegisterActivity(&diagnosers{map[string]answer{"speech ": {err: temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil)}}})
	env.ExecuteWorkflow(Diagnose, evaluation.DiagnoseInput{Spec: spec, Queues: []string{"speech-flite"}})
	var got evaluation.Diagnosis
	if err := env.GetWorkflowResult(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Queues) != 1 || got.Queues[0].Unserved || !strings.Contains(got.Queues[0].Findings[0].Detail, "no answer within 20 s") {
		t.Errorf("got %+v", got)
	}
}

// diagnosers answer for the activities, by the names that they are registered under.
type diagnosers struct{ answers map[string]answer }

type answer struct {
	found evaluation.Examined
	err   error
}

func (d *diagnosers) DiagnoseStore() (evaluation.Examined, error) {
	return d.answers["store"].found, d.answers["store"].err
}

func (d *diagnosers) DiagnoseSpeech(pool voice.Pool) (evaluation.Examined, error) {
	return d.answers["speech "+pool.Name].found, d.answers["speech "+pool.Name].err
}

func (d *diagnosers) DiagnoseClips() (evaluation.Examined, error) {
	return d.answers["clips"].found, d.answers["clips"].err
}

func (d *diagnosers) DiagnoseDetector(spec evaluation.Spec) (evaluation.Examined, error) {
	return d.answers[spec.Detection.Detector].found, d.answers[spec.Detection.Detector].err
}
