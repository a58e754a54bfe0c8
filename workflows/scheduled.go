package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// ScheduledInput is what a schedule starts its firings with.
type ScheduledInput struct {
	Schedule   string          `json:"schedule"`
	Stored     objectstore.Ref `json:"stored"`            // an evaluation.Schedule
	Canary     bool            `json:"canary,omitempty"`  // it has one
	Webhook    string          `json:"webhook,omitempty"` // its name at the workers
	Attributes bool            `json:"attributes"`        // the namespace has the search attributes
	Private    bool            `json:"private,omitempty"` // as evaluation.Spec has it
}

// ScheduledResult is what a firing ends with.
type ScheduledResult struct {
	Outcome evaluation.Outcome `json:"outcome"`
	// Webhook is "" where nobody was to be told, "called", or why it wasn't.
	Webhook string `json:"webhook,omitempty"`
}

// scheduledStart is when the firing was due; Temporal sets it.
var scheduledStart = temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime")

// ScheduledEvaluation judges a stored evaluation's clips again, a canary of them
// first, and says what that shows. It fails where an evaluation does, so that the
// schedule can pause. A loss is a result, no failure.
func ScheduledEvaluation(ctx workflow.Context, in ScheduledInput) (ScheduledResult, error) {
	workflowID := workflow.GetInfo(ctx).WorkflowExecution.ID
	firing := evaluation.Firing{Schedule: in.Schedule, Evaluation: evaluation.ScheduledID(workflowID), Workflow: workflowID, Due: dueTime(ctx)}
	if in.Canary {
		firing.Canary = evaluation.CanaryID(firing.Evaluation)
	}
	task := activities.FiringTask{Schedule: in.Stored, Firing: firing, Private: in.Private}
	var plan activities.FiringPlan
	if err := workflow.ExecuteActivity(mainOptions(ctx, "prepare"), (*activities.Scheduled)(nil).PrepareFiring, task).Get(ctx, &plan); err != nil {
		return ScheduledResult{}, err
	}
	if plan.Canary != nil {
		if err := evaluateAgain(ctx, *plan.Canary, "canary"); err != nil {
			return ScheduledResult{}, err
		}
	}
	if err := evaluateAgain(ctx, plan.Main, "evaluation"); err != nil {
		return ScheduledResult{}, err
	}
	var result ScheduledResult
	if err := workflow.ExecuteActivity(mainOptions(ctx, "compare"), (*activities.Scheduled)(nil).CompareFiring, task).Get(ctx, &result.Outcome); err != nil {
		return result, err
	}
	if in.Attributes {
		regression := temporal.NewSearchAttributeKeyKeyword(evaluation.AttributeRegression)
		if err := workflow.UpsertTypedSearchAttributes(ctx, regression.ValueSet(string(result.Outcome.Regression))); err != nil {
			return result, err
		}
	}
	workflow.SetCurrentDetails(ctx, outcomeDetails(result.Outcome))
	if in.Webhook == "" || len(activities.Events(result.Outcome)) == 0 {
		return result, nil
	}
	result.Webhook = "called"
	notify := activities.NotifyTask{Webhook: in.Webhook, Schedule: in.Schedule, Look: result.Outcome.Look}
	if err := workflow.ExecuteActivity(mainOptions(ctx, "webhook "+in.Webhook), (*activities.Scheduled)(nil).Notify, notify).Get(ctx, nil); err != nil {
		if temporal.IsCanceledError(err) {
			return result, err
		}
		result.Webhook = "not called: " + failureOf(err) // what was found is found all the same
	}
	return result, nil
}

// dueTime is when the firing was due, or when it began where no schedule started it.
func dueTime(ctx workflow.Context) time.Time {
	if due, ok := workflow.GetTypedSearchAttributes(ctx).GetTime(scheduledStart); ok {
		return due.UTC()
	}
	return workflow.GetInfo(ctx).WorkflowStartTime.UTC()
}

func evaluateAgain(ctx workflow.Context, e activities.StoredEvaluation, what string) error {
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("The %s runs: `%s`, %d dialogues.\n", what, e.Evaluation, e.Items))
	options := childOptions(ctx, evaluation.WorkflowID(e.Evaluation), fmt.Sprintf("%s of %d dialogues", what, e.Items), searchAttributes(e.Attributes))
	options = workflow.WithWorkflowPriority(options, temporal.Priority{PriorityKey: e.Limits.Priority, FairnessKey: e.Evaluation})
	err := workflow.ExecuteChildWorkflow(options, Evaluate, EvaluateInput{
		Evaluation:  e.Evaluation,
		Manifest:    e.Manifest,
		Chunks:      e.Chunks,
		Items:       e.Items,
		Limits:      e.Limits,
		DetectQueue: e.DetectQueue,
		Attributes:  e.Attributes,
		Shown:       e.Shown,
		Prices:      e.Prices,
		Settings:    e.Settings,
	}).Get(ctx, nil)
	if err != nil {
		return fmt.Errorf("the %s %s: %w", what, e.Evaluation, err)
	}
	return nil
}

// outcomeDetails is the Markdown that the Web UI shows of what a firing found.
func outcomeDetails(o evaluation.Outcome) string {
	text := fmt.Sprintf("**regression: %s** (look %d, `%s`)\n\nchanged since the baseline: %s\n\n", o.Regression, o.Look, o.Evaluation, o.Drift.Cause)
	for _, against := range o.Against {
		for _, c := range against.Checks {
			text += fmt.Sprintf("- %s against `%s`: %.3f, was %.3f; lost at least %.3f, allowed %.3f\n", c.Metric, against.Evaluation, c.After.Value, c.Before.Value, c.AtLeast.Value, c.Allowed)
		}
	}
	return text
}
