package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/workflows"
)

const (
	// askTimeout bounds one ask. It is short enough for a second try before a
	// lease runs out.
	askTimeout = 5 * time.Second
	// askGap is between asks that can't wait for the next renewal.
	askGap = 5 * time.Second
	// releaseTimeout is short: slots that aren't given back run out.
	releaseTimeout = 2 * time.Second
)

// lessor is who lends slots: the account's limiter.
type lessor func(context.Context, evaluation.Lease) (evaluation.Slots, error)

// limiter asks the account's limiter, and starts it where it isn't running.
func limiter(c client.Client, account string) lessor {
	return func(ctx context.Context, ask evaluation.Lease) (evaluation.Slots, error) {
		start := c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID:                       evaluation.LimiterWorkflowID(account),
			TaskQueue:                evaluation.QueueMain,
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			StaticSummary:            "calls at once of account " + account,
		}, workflows.Limiter, workflows.LimiterState{})
		var slots evaluation.Slots
		handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: start,
			UpdateOptions: client.UpdateWorkflowOptions{
				UpdateID:     fmt.Sprintf("%s-%d", ask.Worker, ask.Seq),
				UpdateName:   evaluation.UpdateLease,
				Args:         []any{ask},
				WaitForStage: client.WorkflowUpdateStageCompleted,
			},
		})
		if err == nil {
			err = handle.Get(ctx, &slots)
		}
		return slots, err
	}
}

// lessee keeps a worker's lease alive, in the background.
type lessee struct {
	name  string // of the worker, no other's
	slots *leasedSlots
	lend  lessor
	// leased is told of every lease: the worker's slots, and the account's ceiling.
	leased func(slots, ceiling int)
	log    *zap.Logger
}

// run renews the lease until ctx ends, then gives the slots back.
func (l *lessee) run(ctx context.Context) {
	renewal := evaluation.LeaseRenewal(l.slots.expiry)
	for ctx.Err() == nil {
		asked := time.Now()
		next := renewal
		if !l.renew(ctx, asked) {
			next = askGap
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(asked.Add(next))):
		case <-l.slots.nudge:
			select {
			case <-ctx.Done():
			case <-time.After(time.Until(asked.Add(askGap))):
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if _, err := l.lend(ctx, l.slots.giveBack(l.name)); err != nil {
		l.log.Warn("slots not given back: they run out", zap.Error(err))
	}
}

func (l *lessee) renew(ctx context.Context, asked time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	ask, refusals := l.slots.ask(l.name)
	got, err := l.lend(ctx, ask)
	if err != nil {
		l.log.Warn("no slots: does a worker with role workflows run?", zap.Error(err))
		return false
	}
	l.slots.answered(ask, refusals, asked, got)
	l.leased(got.Slots, got.Ceiling)
	l.log.Info("slots", zap.Int("slots", got.Slots), zap.Int("ceiling", got.Ceiling), zap.Bool("congested", ask.Congested))
	return true
}

// leasedWorker is a worker that works under a lease.
type leasedWorker struct {
	worker.Worker
	lessee *lessee
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// Start begins to lease slots and to poll with them.
func (w *leasedWorker) Start() error {
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.done.Go(func() { w.lessee.run(ctx) })
	return w.Worker.Start()
}

// Stop drains the worker, under its lease, and then gives the slots back.
func (w *leasedWorker) Stop() {
	w.Worker.Stop()
	if w.stop != nil { // it was started
		w.stop()
		w.done.Wait()
	}
}
