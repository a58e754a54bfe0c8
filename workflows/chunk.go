package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// ChunkInput is one chunk of an evaluation.
type ChunkInput struct {
	Evaluation string            `json:"evaluation"`
	Manifest   objectstore.Ref   `json:"manifest"`
	Engines    objectstore.Ref   `json:"engines"`
	Index      int               `json:"index"`
	Chunk      objectstore.Ref   `json:"chunk"`
	Dialogues  int               `json:"dialogues"` // at once
	Attributes map[string]string `json:"attributes,omitempty"`

	Generation int               `json:"generation,omitempty"` // of the evaluation's pauses
	Failures   bool              `json:"failures,omitempty"`   // tell the evaluation of every failure at once
	Prices     evaluation.Prices `json:"prices,omitzero"`
	Grant      *evaluation.Cost  `json:"grant,omitempty"` // what the chunk may take; nil without a budget
}

// ChunkProgress is what a chunk tells its evaluation.
type ChunkProgress struct {
	Index  int               `json:"index"`
	Counts evaluation.Counts `json:"counts"`
}

// progressSignals is how often a chunk tells the evaluation how far it is: often
// enough to watch, rarely enough for the evaluation's history.
const progressSignals = 4

// EvaluateChunk evaluates a chunk's dialogues, a bounded number at once, gathers
// their records and returns the counts.
func EvaluateChunk(ctx workflow.Context, in ChunkInput) (evaluation.Counts, error) {
	c := runningChunk{in: in, generation: in.Generation, grant: in.Grant, blocked: map[string]bool{}}
	c.progress = evaluation.Progress{Stage: "evaluating"}
	if err := workflow.SetQueryHandler(ctx, evaluation.QueryProgress, func() (evaluation.Progress, error) { return c.progress, nil }); err != nil {
		return evaluation.Counts{}, err
	}
	workflow.Go(ctx, c.listen)
	var chunk evaluation.Chunk
	if err := waiter(c.wait).one(ctx, func() workflow.Future {
		return workflow.ExecuteLocalActivity(localOptions(ctx, "load chunk"), (*activities.Planner)(nil).LoadChunk, in.Chunk)
	}, &chunk); err != nil {
		return evaluation.Counts{}, err
	}
	c.items, c.progress.Total = chunk.Items, len(chunk.Items)
	if err := c.run(ctx); err != nil {
		return c.progress.Counts, err
	}
	c.progress.Stage = "done"
	err := waiter(c.wait).one(ctx, func() workflow.Future {
		return workflow.ExecuteActivity(mainOptions(ctx, "gather records"), (*activities.Records)(nil).CloseChunk, in.Evaluation, in.Index)
	}, nil)
	return c.progress.Counts, err
}

type runningChunk struct {
	in       ChunkInput
	items    []evaluation.Item
	next     int // index in items
	live     int // dialogues in flight
	progress evaluation.Progress

	generation int             // of the last resumption
	blocked    map[string]bool // workflow ids of dialogues that wait for the next one
	grant      *evaluation.Cost
	reserved   evaluation.Cost // estimates of the dialogues in flight
	asked      bool            // for a larger grant
}

func (c *runningChunk) run(ctx workflow.Context) error {
	for ctx.Err() == nil && c.next < len(c.items) {
		if err := workflow.Await(ctx, func() bool { return c.admits() || c.starved() }); err != nil {
			break
		}
		if c.admits() {
			c.start(ctx)
		} else {
			c.askForGrant(ctx)
		}
	}
	// A cancellation reaches the dialogues by itself; they are waited for.
	patient, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if err := workflow.Await(patient, func() bool { return c.live == 0 }); err != nil {
		return err
	}
	return ctx.Err()
}

// admits reports whether the next dialogue may begin.
func (c *runningChunk) admits() bool {
	return c.progress.Paused == nil && c.live < c.in.Dialogues && c.affords()
}

func (c *runningChunk) start(ctx workflow.Context) {
	item := c.items[c.next]
	c.next++
	c.live++
	c.progress.Started++
	c.reserved = c.reserved.Add(item.Estimate)
	task := evaluation.Task{
		Evaluation: c.in.Evaluation,
		Manifest:   c.in.Manifest,
		Engines:    c.in.Engines,
		Chunk:      c.in.Index,
		Item:       item,
		Generation: c.generation,
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		id := evaluation.DialogueWorkflowID(c.in.Evaluation, item.Name(), item.CastingNumber)
		options := childOptions(ctx, id, "dialogue "+evaluation.EncodeID(item.ID)+evaluation.CastingLabel(item.CastingNumber), searchAttributes(c.in.Attributes))
		var result DialogueResult
		err := workflow.ExecuteChildWorkflow(options, EvaluateDialogue, task).Get(ctx, &result)
		c.live--
		c.reserved = c.reserved.Sub(item.Estimate)
		delete(c.blocked, id)
		if temporal.IsCanceledError(err) {
			return // neither done nor failed
		}
		c.count(result, err)
		c.report(ctx, err != nil && c.in.Failures)
	})
}

func (c *runningChunk) count(result DialogueResult, err error) {
	c.progress.Done++
	c.progress.Usage.Add(result.Usage)
	switch {
	case err != nil:
		c.progress.Failed++
	case result.Verdict == vote.Yes:
		c.progress.Yes++
	case result.Verdict == vote.No:
		c.progress.No++
	default:
		c.progress.Unresolved++
	}
}

// report shows the counts, and signals them at each quarter of the chunk, or at
// once.
func (c *runningChunk) report(ctx workflow.Context, atOnce bool) {
	c.show(ctx)
	total, done := c.progress.Total, c.progress.Done
	quarter := done*progressSignals/total != (done-1)*progressSignals/total
	if done == total || !quarter && !atOnce {
		return
	}
	// A lost signal costs a moment's display; the chunk's result has the counts.
	signalParent(ctx, evaluation.SignalProgress, ChunkProgress{Index: c.in.Index, Counts: c.progress.Counts})
}

func (c *runningChunk) show(ctx workflow.Context) {
	passed := workflow.Now(ctx).Sub(workflow.GetInfo(ctx).WorkflowStartTime)
	workflow.SetCurrentDetails(ctx, progressDetails(c.progress, passed, c.in.Prices))
}

// listen takes what the dialogues and the evaluation say, to the workflow's end.
func (c *runningChunk) listen(ctx workflow.Context) {
	selector := workflow.NewSelector(ctx)
	onSignal(ctx, selector, evaluation.SignalBlocked, func(b evaluation.Blocked) { c.block(ctx, b) })
	onSignal(ctx, selector, evaluation.SignalPause, func(p evaluation.Pause) {
		if p.Generation >= c.generation {
			c.pause(ctx, p.Reason)
		}
	})
	onSignal(ctx, selector, evaluation.SignalResume, func(r evaluation.Resume) { c.resume(ctx, r.Generation) })
	onSignal(ctx, selector, evaluation.SignalGrant, func(more evaluation.Cost) {
		if c.grant != nil {
			grant := c.grant.Add(more)
			c.grant, c.asked = &grant, false
		}
	})
	for {
		selector.Select(ctx)
	}
}

// block stops admitting, and tells the evaluation once a pause. A dialogue that
// was blocked before the last resumption missed it: it may go on at once.
func (c *runningChunk) block(ctx workflow.Context, b evaluation.Blocked) {
	if b.Generation < c.generation {
		signal(ctx, b.From, evaluation.SignalResume, evaluation.Resume{Generation: c.generation})
		return
	}
	c.blocked[b.From] = true
	if c.progress.Paused != nil {
		return
	}
	c.pause(ctx, b.Reason)
	b.From, b.Generation = workflow.GetInfo(ctx).WorkflowExecution.ID, c.generation
	signalParent(ctx, evaluation.SignalBlocked, b)
}

// wait returns when a person has acted on what the chunk itself can't do.
func (c *runningChunk) wait(ctx workflow.Context, why evaluation.Reason) error {
	seen := c.generation
	c.pause(ctx, why)
	signalParent(ctx, evaluation.SignalBlocked, evaluation.Blocked{Reason: why, From: workflow.GetInfo(ctx).WorkflowExecution.ID, Generation: seen})
	return workflow.Await(ctx, func() bool { return c.generation > seen })
}

func (c *runningChunk) pause(ctx workflow.Context, why evaluation.Reason) {
	if c.progress.Paused == nil {
		c.progress.Paused = &evaluation.Pause{Reason: why, Generation: c.generation, Since: workflow.Now(ctx)}
	}
	c.show(ctx)
}

func (c *runningChunk) resume(ctx workflow.Context, generation int) {
	if generation <= c.generation {
		return // stale
	}
	c.generation, c.progress.Paused, c.asked = generation, nil, false
	for _, id := range workflow.DeterministicKeys(c.blocked) {
		signal(ctx, id, evaluation.SignalResume, evaluation.Resume{Generation: generation})
	}
	clear(c.blocked)
	c.show(ctx)
}

// affords reports whether the next dialogue's estimate fits into the grant beside
// what is spent and what those in flight are expected to take.
func (c *runningChunk) affords() bool {
	if c.grant == nil {
		return true
	}
	spent := c.in.Prices.Cost(c.progress.Usage)
	return spent.Add(c.reserved).Add(c.items[c.next].Estimate).Within(*c.grant)
}

// starved reports whether only a larger grant can help, and none was asked for:
// what is in flight may still take less than its estimate.
func (c *runningChunk) starved() bool {
	return c.live == 0 && c.progress.Paused == nil && !c.asked && !c.affords()
}

// askForGrant tells the evaluation what the rest is expected to take beyond what
// is left.
func (c *runningChunk) askForGrant(ctx workflow.Context) {
	c.asked = true
	missing := c.in.Prices.Cost(c.progress.Usage).Sub(*c.grant)
	for _, item := range c.items[c.next:] {
		missing = missing.Add(item.Estimate)
	}
	signalParent(ctx, evaluation.SignalBlocked, evaluation.Blocked{
		Reason:     evaluation.Reason{Code: evaluation.ReasonBudget, Message: fmt.Sprintf("%d dialogues of chunk %d are left", len(c.items)-c.next, c.in.Index)},
		From:       workflow.GetInfo(ctx).WorkflowExecution.ID,
		Generation: c.generation,
		Missing:    evaluation.Cost{Calls: max(missing.Calls, 0), Money: max(missing.Money, 0)},
	})
}
