package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// listen takes what the chunks and the operator say, to the workflow's end.
func (e *evaluate) listen(ctx workflow.Context) {
	selector := e.signals(ctx)
	for {
		selector.Select(ctx)
	}
}

// drain takes the signals that have arrived and that listen has not seen yet:
// the next run would never get them.
func (e *evaluate) drain(ctx workflow.Context) {
	for selector := e.signals(ctx); selector.HasPending(); {
		selector.Select(ctx)
	}
}

func (e *evaluate) signals(ctx workflow.Context) workflow.Selector {
	selector := workflow.NewSelector(ctx)
	onSignal(ctx, selector, evaluation.SignalProgress, func(p ChunkProgress) {
		if chunk, ok := e.live[p.Index]; ok {
			chunk.counts = p.Counts
			e.checkFailures(ctx)
			e.show(ctx)
		}
	})
	onSignal(ctx, selector, evaluation.SignalBlocked, func(b evaluation.Blocked) { e.block(ctx, b) })
	onSignal(ctx, selector, evaluation.SignalPause, func(p evaluation.Pause) { e.pause(ctx, p.Reason, "") })
	onSignal(ctx, selector, evaluation.SignalResume, func(r evaluation.Resume) { e.resume(ctx, r) })
	return selector
}

// block pauses the evaluation on what a chunk or an exemplar can't do; what was
// sent before the last resumption is stale, and its sender knows better by now.
func (e *evaluate) block(ctx workflow.Context, b evaluation.Blocked) {
	switch {
	case b.Code == evaluation.ReasonBudget:
		for _, index := range workflow.DeterministicKeys(e.live) {
			if evaluation.ChunkWorkflowID(e.in.Evaluation, index) == b.From {
				e.live[index].missing = &b.Missing
			}
		}
		e.grant(ctx)
	case b.Generation >= e.in.Generation:
		e.pause(ctx, b.Reason, b.From)
	default:
		// An exemplar has no chunk to tell it; a chunk that knows ignores this.
		signal(ctx, b.From, evaluation.SignalResume, evaluation.Resume{Generation: e.in.Generation})
	}
}

// pause stops admitting, here and in all chunks but the one that asked for it.
func (e *evaluate) pause(ctx workflow.Context, why evaluation.Reason, except string) {
	if e.in.Paused != nil {
		return
	}
	e.in.Paused = &evaluation.Pause{Reason: why, Generation: e.in.Generation, Since: workflow.Now(ctx)}
	for _, index := range workflow.DeterministicKeys(e.live) {
		if id := evaluation.ChunkWorkflowID(e.in.Evaluation, index); id != except {
			signal(ctx, id, evaluation.SignalPause, *e.in.Paused)
		}
	}
	e.show(ctx)
}

// resume lets everything go on that was blocked. A second resumption of the same
// pause is stale.
func (e *evaluate) resume(ctx workflow.Context, r evaluation.Resume) {
	if e.in.Paused == nil || r.Generation <= e.in.Generation {
		return
	}
	e.in.Generation, e.in.Paused, e.in.Excused = r.Generation, nil, e.progress().Failed
	if !r.Budget.IsZero() && !e.in.Budget.IsZero() {
		e.in.Budget = r.Budget
	}
	e.grant(ctx)
	message := evaluation.Resume{Generation: e.in.Generation}
	for _, index := range workflow.DeterministicKeys(e.live) {
		signal(ctx, evaluation.ChunkWorkflowID(e.in.Evaluation, index), evaluation.SignalResume, message)
	}
	for _, id := range e.exemplars {
		signal(ctx, id, evaluation.SignalResume, message)
	}
	e.show(ctx)
}

// checkFailures pauses where too many dialogues have failed since the last
// resumption: a broken set-up must not use up a whole corpus.
func (e *evaluate) checkFailures(ctx workflow.Context) {
	failed, limit := e.progress().Failed, e.in.Limits.Failures
	if limit == 0 || failed-e.in.Excused < limit || len(e.live) == 0 && len(e.in.Chunks) == 0 {
		return
	}
	e.pause(ctx, evaluation.Reason{
		Code:    evaluation.ReasonFailures,
		Message: fmt.Sprintf("%d dialogues have failed: see the report or the failed workflows for why; resume to go on until %d more have", failed, limit),
	}, "")
}

// wait returns when a person has acted on what the evaluation itself can't do.
func (e *evaluate) wait(ctx workflow.Context, why evaluation.Reason) error {
	e.pause(ctx, why, "")
	return workflow.Await(ctx, func() bool { return e.in.Paused == nil })
}

// nextEstimate is what the next chunk is expected to take.
func (e *evaluate) nextEstimate() evaluation.Cost {
	if e.in.Next < len(e.in.Estimates) {
		return e.in.Estimates[e.in.Next]
	}
	return evaluation.Cost{}
}

// ungranted is what no chunk in flight may take, and none that has ended took.
func (e *evaluate) ungranted() evaluation.Cost {
	left := e.in.Budget.Bound().Sub(e.in.Prices.Cost(e.in.Finished.Usage))
	for _, index := range workflow.DeterministicKeys(e.live) {
		left = left.Sub(e.live[index].granted)
	}
	return left
}

// affords reports whether another chunk could take anything at all.
func (e *evaluate) affords() bool {
	left := e.ungranted()
	return e.in.Budget.IsZero() || left.Calls > 0 && left.Money > 0
}

// grant gives the chunks that ask for it what is left. Where nothing is left and
// every chunk in flight asks, the evaluation pauses: until then one of them may
// give something back.
func (e *evaluate) grant(ctx workflow.Context) {
	if e.in.Budget.IsZero() {
		return
	}
	waiting := 0
	for _, index := range workflow.DeterministicKeys(e.live) {
		chunk := e.live[index]
		if chunk.missing == nil {
			continue
		}
		more := chunk.missing.Min(e.ungranted())
		if (chunk.missing.Calls == 0 || more.Calls > 0) && (chunk.missing.Money == 0 || more.Money > 0) {
			chunk.granted, chunk.missing = chunk.granted.Add(more), nil
			signal(ctx, evaluation.ChunkWorkflowID(e.in.Evaluation, index), evaluation.SignalGrant, more)
			continue
		}
		waiting++
	}
	if waiting > 0 && waiting == len(e.live) {
		e.pause(ctx, e.overBudget(), "")
	}
}

func (e *evaluate) overBudget() evaluation.Reason {
	spent := e.in.Prices.Cost(e.progress().Usage)
	bound := ""
	if e.in.Budget.Calls > 0 {
		bound += fmt.Sprintf(" %d of %d calls", spent.Calls, e.in.Budget.Calls)
	}
	if e.in.Budget.Money > 0 {
		bound += fmt.Sprintf(" %s of %s %s", spent.Money, e.in.Budget.Money, e.in.Prices.Currency)
	}
	return evaluation.Reason{
		Code:    evaluation.ReasonBudget,
		Message: "the next dialogue's estimate exceeds the budget:" + bound + " are spent; resume with a larger --max-calls or --max-cost",
	}
}
