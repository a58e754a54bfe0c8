package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// DialogueResult is a dialogue's verdict and what it took.
type DialogueResult struct {
	Verdict vote.Verdict     `json:"verdict"`
	Usage   evaluation.Usage `json:"usage"`
}

// EvaluateDialogue renders one dialogue and judges it. Its record is stored
// whatever happens, a failure's too; then the workflow fails, so that the Web UI
// shows it.
func EvaluateDialogue(ctx workflow.Context, task evaluation.Task) (DialogueResult, error) {
	d := &runningDialogue{record: activities.RecordTask{Task: task}}
	err := d.run(ctx)
	if temporal.IsCanceledError(err) {
		return DialogueResult{Usage: d.record.Usage}, err // no verdict and no failure: it may be evaluated later
	}
	if err != nil {
		d.record.Failure = failure(d.stage, err)
	}
	d.enter(ctx, "saving the record")
	save := workflow.ExecuteLocalActivity(localOptions(ctx, "save record"), (*activities.Records)(nil).SaveRecord, d.record)
	if saveErr := save.Get(ctx, nil); saveErr != nil {
		return DialogueResult{}, errors.Join(err, saveErr)
	}
	if err != nil {
		return DialogueResult{}, err
	}
	workflow.SetCurrentDetails(ctx, verdictDetails(d.record))
	return DialogueResult{Verdict: d.record.Verdict.Verdict, Usage: d.record.Usage}, d.showVerdict(ctx)
}

// runningDialogue collects what a dialogue's record will say.
type runningDialogue struct {
	plan   activities.Plan
	record activities.RecordTask
	stage  string
}

func (d *runningDialogue) enter(ctx workflow.Context, stage string) {
	d.stage = stage
	workflow.SetCurrentDetails(ctx, "**"+stage+"**")
}

func (d *runningDialogue) run(ctx workflow.Context) error {
	d.enter(ctx, "planning")
	planned := workflow.ExecuteLocalActivity(localOptions(ctx, "plan"), (*activities.Planner)(nil).PlanDialogue, d.record.Task)
	if err := planned.Get(ctx, &d.plan); err != nil {
		return err
	}
	if d.plan.NeedsClip {
		if err := d.render(ctx); err != nil {
			return err
		}
	}
	return d.judge(ctx)
}

// showVerdict makes the verdict searchable; the attribute is known when the
// workflow was started with others.
func (d *runningDialogue) showVerdict(ctx workflow.Context) error {
	if workflow.GetTypedSearchAttributes(ctx).Size() == 0 {
		return nil
	}
	key := temporal.NewSearchAttributeKeyKeyword(evaluation.AttributeVerdict)
	return workflow.UpsertTypedSearchAttributes(ctx, key.ValueSet(string(d.record.Verdict.Verdict)))
}

// failure names what stopped a dialogue: the stage, and the code and message of
// the activity's error without Temporal's wrapping.
func failure(stage string, err error) *evaluation.Failure {
	f := &evaluation.Failure{Stage: stage, Code: "internal", Message: err.Error()}
	var application *temporal.ApplicationError
	var timeout *temporal.TimeoutError
	switch {
	case errors.As(err, &application):
		f.Code, f.Message = application.Type(), application.Message()
	case errors.As(err, &timeout):
		f.Code, f.Message = "timeout", fmt.Sprintf("%s: %s", timeout.TimeoutType(), timeout.Message())
	}
	return f
}
