package workflows

import (
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// Activity options, named for their purpose. None has a ScheduleToStart or
// ScheduleToClose: workers may be absent for hours, and waiting for them is no
// failure. StartToClose and the attempts bound the work itself.

// backoff is shared by all retries: quick at first, as most faults are a
// restart somewhere; at most a minute, so that a repaired server is found soon.
func backoff(attempts int32) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval:    500 * time.Millisecond,
		BackoffCoefficient: 2,
		MaximumInterval:    time.Minute,
		MaximumAttempts:    attempts,
	}
}

// attempts of what activities.Attempts doesn't count, and countedElsewhere of what
// it does: waiting for a busy provider must not use an activity up.
const (
	attempts         = activities.MaxFailures
	countedElsewhere = 0
)

// localOptions are for short steps on the workflow's own worker: they read and
// write a few small objects.
func localOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 30 * time.Second,
		RetryPolicy:         backoff(attempts),
		Summary:             summary,
	})
}

// mainOptions are for light steps that list many objects.
func mainOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		RetryPolicy:         backoff(countedElsewhere),
		Summary:             summary,
	})
}

// checkOptions are for asking an engine who it is. An engine that is missing
// says so permanently; one that starts slowly gets a few attempts.
func checkOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           queue,
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         backoff(countedElsewhere),
		Summary:             summary,
	})
}

// speechOptions are for one call of a synthesizer: longer than the call itself
// may take, so that a paid call's result is always stored before the timeout.
func speechOptions(ctx workflow.Context, queue string, turn int) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           queue,
		StartToCloseTimeout: activities.SynthesisLifetime + 15*time.Second,
		RetryPolicy:         backoff(countedElsewhere),
		Summary:             fmt.Sprintf("turn %d", turn),
	})
}

// composeOptions are for composing a clip, at hundreds of times real time.
func composeOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           evaluation.QueueAudio,
		StartToCloseTimeout: 2 * time.Minute,
		RetryPolicy:         backoff(countedElsewhere),
		Summary:             "compose clip",
	})
}

// listenOptions are for work that takes a fraction of the clip's length on a
// slow processor: minutes for the longest dialogues.
func listenOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           evaluation.QueueAudio,
		StartToCloseTimeout: activities.RecognitionLifetime + 30*time.Second,
		HeartbeatTimeout:    30 * time.Second, // so that a killed worker's clip is taken up soon
		RetryPolicy:         backoff(countedElsewhere),
		Summary:             summary,
	})
}

// detectOptions are for one call of a detector, longer than the call may take.
func detectOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           queue,
		StartToCloseTimeout: activities.DetectionLifetime + 15*time.Second,
		RetryPolicy:         backoff(countedElsewhere),
		Summary:             summary,
	})
}

// affinityOptions are for a detector's call on the queue of one worker: it isn't
// waited for long, as any other can do the work too.
func affinityOptions(ctx workflow.Context, queue, summary string) workflow.Context {
	return workflow.WithScheduleToStartTimeout(detectOptions(ctx, queue, summary), 3*time.Second)
}

// childOptions are for a part of an evaluation: the id can't be used twice, so
// nothing is evaluated twice; cancelling or terminating the whole reaches it.
func childOptions(ctx workflow.Context, id, summary string, attributes temporal.SearchAttributes) workflow.Context {
	return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            id,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		TypedSearchAttributes: attributes,
		StaticSummary:         summary,
	})
}
