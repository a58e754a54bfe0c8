package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	d := newDialogue(task)
	err := d.remaking(ctx, func() error {
		if err := d.run(ctx); err != nil {
			return err
		}
		return d.save(ctx)
	})
	if temporal.IsCanceledError(err) {
		return DialogueResult{Usage: d.record.Usage}, err // no verdict and no failure: it may be evaluated later
	}
	if err != nil {
		d.record.Failure = failure(d.stage, err)
		if saveErr := d.save(ctx); saveErr != nil {
			return DialogueResult{}, errors.Join(err, saveErr)
		}
		// In the words of the record, not in Temporal's.
		return DialogueResult{}, temporal.NewApplicationErrorWithCause(d.record.Failure.Message, d.record.Failure.Code, err)
	}
	workflow.SetCurrentDetails(ctx, verdictDetails(d.record))
	return DialogueResult{Verdict: d.record.Verdict.Verdict, Usage: d.record.Usage}, d.showVerdict(ctx)
}

// runningDialogue collects what a dialogue's record will say.
type runningDialogue struct {
	blocker
	plan   activities.Plan
	record activities.RecordTask
	stage  string
}

func newDialogue(task evaluation.Task) *runningDialogue {
	return &runningDialogue{blocker: blocker{generation: task.Generation}, record: activities.RecordTask{Task: task}}
}

func (d *runningDialogue) enter(ctx workflow.Context, stage string) {
	d.stage = stage
	workflow.SetCurrentDetails(ctx, "**"+stage+"**")
}

func (d *runningDialogue) planIt(ctx workflow.Context) error {
	d.enter(ctx, "planning")
	d.plan = activities.Plan{}
	return d.one(ctx, func() workflow.Future {
		return workflow.ExecuteLocalActivity(localOptions(ctx, "plan"), (*activities.Planner)(nil).PlanDialogue, d.record.Task)
	}, &d.plan)
}

func (d *runningDialogue) save(ctx workflow.Context) error {
	d.enter(ctx, "saving the record")
	return d.one(ctx, func() workflow.Future {
		return workflow.ExecuteLocalActivity(localOptions(ctx, "save record"), (*activities.Records)(nil).SaveRecord, d.record)
	}, nil)
}

func (d *runningDialogue) run(ctx workflow.Context) error {
	if err := d.planIt(ctx); err != nil {
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

// failure names what stopped a dialogue: the stage, and the code and messages of
// the activities' errors without Temporal's wrapping. Several turns may fail.
func failure(stage string, err error) *evaluation.Failure {
	f := &evaluation.Failure{Stage: stage}
	var messages []string
	for _, one := range apart(err) {
		code, message := cause(one)
		f.Code = cmp.Or(f.Code, code)
		if !slices.Contains(messages, message) {
			messages = append(messages, message)
		}
	}
	f.Message = strings.Join(messages, "; ")
	return f
}

// apart returns the errors that errors.Join put together.
func apart(err error) []error {
	if several, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // the outermost is meant
		return several.Unwrap()
	}
	return []error{err}
}

func cause(err error) (code, message string) {
	var application *temporal.ApplicationError
	var timeout *temporal.TimeoutError
	switch {
	case errors.As(err, &application):
		return application.Type(), application.Message()
	case errors.As(err, &timeout):
		return "timeout", fmt.Sprintf("%s: %s", timeout.TimeoutType(), timeout.Message())
	default:
		return "internal", err.Error()
	}
}
