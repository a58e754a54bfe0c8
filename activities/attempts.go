package activities

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// MaxFailures is how often an activity may fail: with the retry policy's backoff
// that outlasts about ten minutes of a store or a provider being away.
const MaxFailures = 16

// Attempts bounds an activity's failures instead of its attempts: waiting for
// another's claim or for a busy provider is no failure, however often it takes.
// The retry policy of activities under it has no MaximumAttempts.
//
// What an activity's earlier attempts came to travels in its heartbeat's details.
// An attempt that left no word, because its worker died or it timed out, counts
// as a failure.
type Attempts struct {
	interceptor.WorkerInterceptorBase
}

// InterceptActivity counts the activity's failures.
func (*Attempts) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &countingActivity{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type countingActivity struct {
	interceptor.ActivityInboundInterceptorBase
}

// tries is how the attempts before this one ended.
type tries struct {
	Failures int `json:"failures"`
	Waits    int `json:"waits"`
}

type triesKey struct{}

func (c *countingActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	info := activity.GetInfo(ctx)
	if info.IsLocalActivity {
		return c.Next.ExecuteActivity(ctx, in) // can't keep details; its policy bounds its attempts
	}
	before := triesBefore(ctx, int(info.Attempt))
	if before.Failures >= MaxFailures {
		err := fmt.Errorf("its worker died or it ran out of time in %d attempts", before.Failures)
		return nil, temporal.NewApplicationErrorWithOptions(err.Error(), "attempts_exhausted", temporal.ApplicationErrorOptions{NonRetryable: true})
	}
	result, err := c.Next.ExecuteActivity(context.WithValue(ctx, triesKey{}, before), in)
	var failed *temporal.ApplicationError
	if err == nil || !errors.As(err, &failed) || failed.NonRetryable() {
		return result, err
	}
	if failed.Category() == temporal.ApplicationErrorCategoryBenign {
		before.Waits++
	} else {
		before.Failures++
	}
	if before.Failures >= MaxFailures {
		options := temporal.ApplicationErrorOptions{NonRetryable: true}
		message := fmt.Sprintf("%s (given up after %d failures)", failed.Message(), before.Failures)
		if failed.Type() == objectstore.CodeUnwritable { // every other dialogue would fail too
			options.Details = []any{evaluation.Reason{Code: failed.Type(), Message: message}}
		}
		return nil, temporal.NewApplicationErrorWithOptions(message, failed.Type(), options)
	}
	activity.RecordHeartbeat(ctx, before)
	return result, err
}

// triesBefore reads what the attempts before this one came to.
func triesBefore(ctx context.Context, attempt int) tries {
	var before tries
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &before); err != nil {
			before = tries{}
		}
	}
	if lost := attempt - 1 - before.Failures - before.Waits; lost > 0 {
		before.Failures += lost
	}
	return before
}

// heartbeat tells the server that the activity is alive, and keeps the count.
func heartbeat(ctx context.Context) {
	before, _ := ctx.Value(triesKey{}).(tries)
	activity.RecordHeartbeat(ctx, before)
}
