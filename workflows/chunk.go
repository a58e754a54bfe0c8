package workflows

import (
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
	var chunk evaluation.Chunk
	if err := workflow.ExecuteLocalActivity(localOptions(ctx, "load chunk"), (*activities.Planner)(nil).LoadChunk, in.Chunk).Get(ctx, &chunk); err != nil {
		return evaluation.Counts{}, err
	}
	c := runningChunk{in: in, items: chunk.Items}
	c.progress = evaluation.Progress{Stage: "evaluating", Total: len(chunk.Items)}
	if err := workflow.SetQueryHandler(ctx, evaluation.QueryProgress, func() (evaluation.Progress, error) { return c.progress, nil }); err != nil {
		return evaluation.Counts{}, err
	}
	if err := c.run(ctx); err != nil {
		return c.progress.Counts, err
	}
	c.progress.Stage = "done"
	err := workflow.ExecuteActivity(mainOptions(ctx, "gather records"), (*activities.Records)(nil).CloseChunk, in.Evaluation, in.Index).Get(ctx, nil)
	return c.progress.Counts, err
}

type runningChunk struct {
	in       ChunkInput
	items    []evaluation.Item
	progress evaluation.Progress
}

func (c *runningChunk) run(ctx workflow.Context) error {
	selector := workflow.NewSelector(ctx)
	live, next := 0, 0
	for {
		for ctx.Err() == nil && next < len(c.items) && live < c.in.Dialogues {
			selector.AddFuture(c.start(ctx, c.items[next]), func(f workflow.Future) {
				live--
				var result DialogueResult
				err := f.Get(ctx, &result)
				if temporal.IsCanceledError(err) {
					return // neither done nor failed
				}
				c.count(result, err)
				c.report(ctx)
			})
			live++
			next++
			c.progress.Started++
		}
		if live == 0 {
			return ctx.Err()
		}
		selector.Select(ctx)
	}
}

func (c *runningChunk) start(ctx workflow.Context, item evaluation.Item) workflow.Future {
	id := evaluation.DialogueWorkflowID(c.in.Evaluation, item.ID)
	options := childOptions(ctx, id, "dialogue "+evaluation.EncodeID(item.ID), searchAttributes(c.in.Attributes))
	return workflow.ExecuteChildWorkflow(options, EvaluateDialogue, evaluation.Task{
		Evaluation: c.in.Evaluation,
		Manifest:   c.in.Manifest,
		Engines:    c.in.Engines,
		Chunk:      c.in.Index,
		Item:       item,
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

// report shows the counts, and signals them at each quarter of the chunk.
func (c *runningChunk) report(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, progressDetails(c.progress))
	total, done := c.progress.Total, c.progress.Done
	if done == total || done*progressSignals/total == (done-1)*progressSignals/total {
		return
	}
	parent := workflow.GetInfo(ctx).ParentWorkflowExecution
	if parent == nil {
		return
	}
	// A lost signal costs a moment's display; the chunk's result has the counts.
	workflow.SignalExternalWorkflow(ctx, parent.ID, "", evaluation.SignalProgress, ChunkProgress{Index: c.in.Index, Counts: c.progress.Counts})
}
