package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// pauseReason returns why an activity's error can only be helped by a person.
func pauseReason(err error) (evaluation.Reason, bool) {
	var failed *temporal.ApplicationError
	var reason evaluation.Reason
	if !errors.As(err, &failed) || !failed.HasDetails() || failed.Details(&reason) != nil {
		return reason, false
	}
	return reason, reason.Code != ""
}

// waiter returns when a person has acted on a reason.
type waiter func(workflow.Context, evaluation.Reason) error

// do makes the calls of the given numbers side by side and waits for every one,
// so that what is paid is stored and every failure is known. Calls that can't go
// on without a person are made again after the resumption; that fails nothing and
// takes no attempts. Take reads one call's result.
func (wait waiter) do(ctx workflow.Context, calls []int, start func(int) workflow.Future, take func(int, workflow.Future) error) error {
	for {
		futures := make([]workflow.Future, len(calls))
		for i, call := range calls {
			futures[i] = start(call)
		}
		var blocked []int
		var reason evaluation.Reason
		var failed []error
		for i, call := range calls {
			err := take(call, futures[i])
			if why, ok := pauseReason(err); ok {
				blocked, reason = append(blocked, call), why
			} else if err != nil {
				failed = append(failed, err)
			}
		}
		if len(failed) > 0 {
			return joined(failed)
		}
		if len(blocked) == 0 {
			return nil
		}
		if err := wait(ctx, reason); err != nil {
			return err
		}
		calls = blocked
	}
}

// one makes one call, as do does.
func (wait waiter) one(ctx workflow.Context, start func() workflow.Future, result any) error {
	return wait.do(ctx, []int{0}, func(int) workflow.Future { return start() }, func(_ int, f workflow.Future) error { return f.Get(ctx, result) })
}

// joined returns a cancellation alone, as no other error matters beside it, and a
// single error as it is.
func joined(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	for _, err := range errs {
		if temporal.IsCanceledError(err) {
			return err
		}
	}
	return errors.Join(errs...)
}

// blocker waits in a workflow below the evaluation.
type blocker struct {
	generation int // of the last resumption that it knows
}

func (b *blocker) do(ctx workflow.Context, calls []int, start func(int) workflow.Future, take func(int, workflow.Future) error) error {
	return waiter(b.wait).do(ctx, calls, start, take)
}

func (b *blocker) one(ctx workflow.Context, start func() workflow.Future, result any) error {
	return waiter(b.wait).one(ctx, start, result)
}

// wait tells the parent what is missing and returns at the next resumption.
func (b *blocker) wait(ctx workflow.Context, reason evaluation.Reason) error {
	info := workflow.GetInfo(ctx)
	if info.ParentWorkflowExecution == nil {
		return temporal.NewApplicationError(reason.Message, reason.Code) // nobody could resume it
	}
	blocked := evaluation.Blocked{Reason: reason, From: info.WorkflowExecution.ID, Generation: b.generation}
	if err := workflow.SignalExternalWorkflow(ctx, info.ParentWorkflowExecution.ID, "", evaluation.SignalBlocked, blocked).Get(ctx, nil); err != nil {
		return err
	}
	workflow.SetCurrentDetails(ctx, pauseDetails(reason))
	resumed := workflow.GetSignalChannel(ctx, evaluation.SignalResume)
	for seen := b.generation; b.generation == seen; {
		selector := workflow.NewSelector(ctx)
		selector.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
		selector.AddReceive(resumed, func(c workflow.ReceiveChannel, _ bool) {
			var resume evaluation.Resume
			c.Receive(ctx, &resume)
			b.generation = max(b.generation, resume.Generation)
		})
		selector.Select(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
