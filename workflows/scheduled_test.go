package workflows

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// firings answer for the activities of a firing, by their registered names.
type firings struct {
	task     activities.FiringTask
	plan     activities.FiringPlan
	outcome  evaluation.Outcome
	notified []activities.NotifyTask
	refuse   error // of the webhook
	judged   []EvaluateInput
	fails    string // the evaluation that does
}

func newFirings() *firings {
	return &firings{
		plan: activities.FiringPlan{
			Canary: &activities.StoredEvaluation{Evaluation: "nightly-2026-03-01t023000z-canary", Items: 1, DetectQueue: "detect-cpu-x"},
			Main: activities.StoredEvaluation{
				Evaluation: "nightly-2026-03-01t023000z", Manifest: ref("m"), Chunks: []objectstore.Ref{ref("chunk")}, Items: 3, Shown: true,
				Limits: evaluation.DefaultLimits(), DetectQueue: "detect-cpu-x",
			},
		},
		outcome: evaluation.Outcome{Look: 4, Regression: evaluation.RegressionShown},
	}
}

func (f *firings) PrepareFiring(_ context.Context, task activities.FiringTask) (activities.FiringPlan, error) {
	f.task = task
	return f.plan, nil
}

func (f *firings) CompareFiring(_ context.Context, task activities.FiringTask) (evaluation.Outcome, error) {
	return f.outcome, nil
}

func (f *firings) Notify(_ context.Context, task activities.NotifyTask) error {
	f.notified = append(f.notified, task)
	return f.refuse
}

func (f *firings) evaluate(_ workflow.Context, in EvaluateInput) (EvaluateResult, error) {
	f.judged = append(f.judged, in)
	if in.Evaluation == f.fails {
		return EvaluateResult{}, temporal.NewNonRetryableApplicationError("no such model", "bad_model", nil)
	}
	return EvaluateResult{}, nil
}

func fire(t *testing.T, f *firings, in ScheduledInput) (ScheduledResult, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(f)
	env.RegisterWorkflow(ScheduledEvaluation)
	env.RegisterWorkflowWithOptions(f.evaluate, workflow.RegisterOptions{Name: "Evaluate"})
	due := time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: evaluation.FiringWorkflowID("nightly") + "-2026-03-01T02:30:00Z", TaskQueue: evaluation.QueueMain})
	if err := env.SetTypedSearchAttributesOnStart(temporal.NewSearchAttributes(scheduledStart.ValueSet(due))); err != nil {
		t.Fatal(err)
	}
	env.ExecuteWorkflow(ScheduledEvaluation, in)
	if err := env.GetWorkflowError(); err != nil {
		return ScheduledResult{}, err
	}
	var out ScheduledResult
	return out, env.GetWorkflowResult(&out)
}

func TestScheduledEvaluation(t *testing.T) {
	f := newFirings()
	in := ScheduledInput{Schedule: "nightly", Stored: ref("schedule"), Canary: true, Webhook: "ci", Private: true, Attributes: true}
	got, err := fire(t, f, in)
	if err != nil {
		t.Fatal(err)
	}
	want := activities.FiringTask{Schedule: ref("schedule"), Private: true, Firing: evaluation.Firing{
		Schedule: "nightly", Evaluation: "nightly-2026-03-01t023000z", Canary: "nightly-2026-03-01t023000z-canary",
		Workflow: "scheduled/nightly-2026-03-01T02:30:00Z", Due: time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC),
	}}
	if diff := cmp.Diff(want, f.task); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	if len(f.judged) != 2 || f.judged[0].Evaluation != f.plan.Canary.Evaluation || f.judged[1].Evaluation != f.plan.Main.Evaluation {
		t.Fatalf("judged %+v", f.judged)
	}
	main := f.judged[1]
	if main.Manifest != ref("m") || len(main.Chunks) != 1 || main.Items != 3 || !main.Shown || main.SpeechQueue != "" || main.Limits != evaluation.DefaultLimits() {
		t.Errorf("input %+v", main)
	}
	if got.Webhook != "called" || got.Outcome.Look != 4 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]activities.NotifyTask{{Webhook: "ci", Schedule: "nightly", Look: 4}}, f.notified); diff != "" {
		t.Errorf("notified (-want +got):\n%s", diff)
	}
}

// Nobody is told where there is nothing to tell, or nobody to tell.
func TestScheduledEvaluationTellsNobody(t *testing.T) {
	for name, change := range map[string]func(*firings, *ScheduledInput){
		"nothing found": func(f *firings, _ *ScheduledInput) { f.outcome.Regression = evaluation.RegressionNone },
		"no webhook":    func(_ *firings, in *ScheduledInput) { in.Webhook = "" },
	} {
		f, in := newFirings(), ScheduledInput{Schedule: "nightly", Webhook: "ci"}
		f.plan.Canary = nil
		change(f, &in)
		got, err := fire(t, f, in)
		if err != nil || got.Webhook != "" || len(f.notified) != 0 || len(f.judged) != 1 || f.task.Firing.Canary != "" {
			t.Errorf("%s: %v, %+v, notified %v, judged %v", name, err, got, f.notified, f.judged)
		}
	}
}

// A webhook that can't be called loses nothing of what was found; an evaluation that
// fails is the firing's failure, after which a schedule can pause.
func TestScheduledEvaluationFailures(t *testing.T) {
	f := newFirings()
	f.refuse = temporal.NewNonRetryableApplicationError("it answered 404", "refused", errors.New("x"))
	got, err := fire(t, f, ScheduledInput{Schedule: "nightly", Webhook: "ci", Canary: true})
	if err != nil || got.Webhook != "not called: it answered 404" || got.Outcome.Look != 4 {
		t.Errorf("%v, %+v", err, got)
	}
	f = newFirings()
	f.fails = f.plan.Canary.Evaluation
	_, err = fire(t, f, ScheduledInput{Schedule: "nightly", Canary: true})
	if err == nil || !strings.Contains(err.Error(), "the canary nightly-2026-03-01t023000z-canary") || len(f.judged) != 1 {
		t.Errorf("%v after %d evaluations", err, len(f.judged))
	}
}

func TestOutcomeDetails(t *testing.T) {
	got := outcomeDetails(evaluation.Outcome{Regression: evaluation.RegressionNone, Look: 2, Evaluation: "e", Drift: evaluation.Drift{Cause: evaluation.CauseModel}})
	want := "**regression: none** (look 2, `e`)\n\nchanged since the baseline: model\n\n"
	if got != want {
		t.Errorf("%q", got)
	}
}
