package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// limiterIdle is how often a limiter looks whether anybody still holds a lease. It
// ends where nobody does, and the next ask starts it again.
const limiterIdle = 5 * time.Minute

// Limiter lends the slots of one provider account to the workers that speak with
// it, so that together they never have more calls in flight than the account
// allows. Workers ask by the Update evaluation.UpdateLease.
func Limiter(ctx workflow.Context, state LimiterState) error {
	if state.Leases == nil {
		state.Leases = map[string]LimiterLease{}
	}
	if err := workflow.SetQueryHandler(ctx, evaluation.QuerySlots, func() (evaluation.LimiterStatus, error) {
		return state.status(), nil
	}); err != nil {
		return err
	}
	lease := func(ctx workflow.Context, ask evaluation.Lease) (evaluation.Slots, error) {
		return state.lease(workflow.Now(ctx), ask), nil
	}
	// What is refused here leaves nothing in the history.
	check := func(_ workflow.Context, ask evaluation.Lease) error { return state.check(ask) }
	if err := workflow.SetUpdateHandlerWithOptions(ctx, evaluation.UpdateLease, lease, workflow.UpdateHandlerOptions{Validator: check}); err != nil {
		return err
	}
	for {
		full, err := workflow.AwaitWithTimeout(ctx, limiterIdle, func() bool {
			return historyIsLong(ctx) && workflow.AllHandlersFinished(ctx)
		})
		if err != nil {
			return fmt.Errorf("limiter: %w", err)
		}
		if full {
			return workflow.NewContinueAsNewError(ctx, Limiter, state)
		}
		state.expire(workflow.Now(ctx))
		if len(state.Leases) == 0 && workflow.AllHandlersFinished(ctx) {
			return nil
		}
	}
}
