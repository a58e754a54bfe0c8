package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// judge listens to the clip, makes the passes, votes, and asks for the tactic
// and the evidence of a YES.
func (d *runningDialogue) judge(ctx workflow.Context) error {
	if d.plan.NeedsClip {
		if err := d.listen(ctx); err != nil {
			return err
		}
	}
	task := activities.JudgeTask{Task: d.record.Task, Clip: d.record.Clip, Transcript: d.record.Transcript}
	d.enter(ctx, "preparing")
	var prepared activities.StoredResult
	options := detectOptions(ctx, d.plan.DetectQueue, "prepare")
	if err := workflow.ExecuteActivity(options, (*activities.Detection)(nil).PrepareItem, task).Get(ctx, &prepared); err != nil {
		return err
	}
	task.Prepared = prepared.Ref

	d.enter(ctx, fmt.Sprintf("making %d passes", d.plan.Rules.Passes))
	passes, err := d.makePasses(ctx, task)
	if err != nil {
		return err
	}
	d.record.Outcome = vote.Decide(passes, d.plan.Rules)
	d.record.Verdict = d.record.Outcome
	if d.record.Verdict.Verdict != vote.Yes {
		return nil
	}
	d.enter(ctx, "attributing the tactic")
	return d.explain(ctx, task)
}

// listen has the clip recognised, for the detectors that read words and for the
// quality gate, and measured against its text.
func (d *runningDialogue) listen(ctx workflow.Context) error {
	d.enter(ctx, "recognising the clip")
	task := activities.ClipTask{Task: d.record.Task, Clip: d.record.Clip, Timeline: d.record.Timeline}
	var transcript, quality activities.StoredResult
	if err := workflow.ExecuteActivity(listenOptions(ctx, "recognise clip"), (*activities.Clips)(nil).RecognizeClip, task).Get(ctx, &transcript); err != nil {
		return err
	}
	d.record.Transcript = transcript.Ref
	if transcript.Made {
		d.record.Usage.Recognized++
	} else {
		d.record.Usage.RecognizedStored++
	}
	task.Transcript = transcript.Ref
	if err := workflow.ExecuteActivity(listenOptions(ctx, "measure clip"), (*activities.Clips)(nil).MeasureClip, task).Get(ctx, &quality); err != nil {
		return err
	}
	d.record.Quality = quality.Ref
	return nil
}

func (d *runningDialogue) makePasses(ctx workflow.Context, task activities.JudgeTask) ([]vote.Pass, error) {
	futures := make([]workflow.Future, d.plan.Rules.Passes)
	for i := range futures {
		options := detectOptions(ctx, d.plan.DetectQueue, fmt.Sprintf("pass %d", i))
		futures[i] = workflow.ExecuteActivity(options, (*activities.Detection)(nil).DetectPass, activities.PassTask{JudgeTask: task, Index: i})
	}
	passes := make([]vote.Pass, len(futures))
	for i, future := range futures {
		var result activities.PassResult
		if err := future.Get(ctx, &result); err != nil {
			return nil, err
		}
		passes[i] = result.Pass
		d.record.Passes = append(d.record.Passes, result.Ref)
		d.countCall(result.Made)
	}
	return passes, nil
}

// explain attributes a YES to a tactic and asks for its evidence, once more when
// the quote is empty.
func (d *runningDialogue) explain(ctx workflow.Context, task activities.JudgeTask) error {
	var scored activities.TacticsResult
	options := detectOptions(ctx, d.plan.DetectQueue, "score tactics")
	if err := workflow.ExecuteActivity(options, (*activities.Detection)(nil).ScoreTactics, task).Get(ctx, &scored); err != nil {
		return err
	}
	d.countCall(scored.Made)
	d.record.Tactics = scored.Ref
	outcome := vote.DecideTactic(vote.ScoredPasses(scored.Masses, d.plan.Rules), d.plan.Rules)
	d.record.Tactic = &outcome

	d.enter(ctx, "quoting the evidence")
	quote := activities.QuoteTask{JudgeTask: task}
	if d.plan.Rules.Evidence == vote.EvidenceTactic {
		if outcome.Tactic == tactic.None || outcome.Tactic == "" {
			return nil
		}
		quote.Tactic = outcome.Tactic
	}
	var err error
	d.record.Quotes, err = d.askQuote(ctx, quote)
	return err
}

func (d *runningDialogue) askQuote(ctx workflow.Context, task activities.QuoteTask) ([]objectstore.Ref, error) {
	var quotes []objectstore.Ref
	for attempt := range d.plan.Rules.QuoteRetries + 1 {
		task.Attempt = attempt
		var result activities.QuoteResult
		options := detectOptions(ctx, d.plan.DetectQueue, "quote evidence")
		if err := workflow.ExecuteActivity(options, (*activities.Detection)(nil).QuoteEvidence, task).Get(ctx, &result); err != nil {
			return quotes, err
		}
		d.countCall(result.Made)
		quotes = append(quotes, result.Ref)
		if !result.Empty {
			break
		}
	}
	return quotes, nil
}

func (d *runningDialogue) countCall(made bool) {
	if made {
		d.record.Usage.PassesMade++
	} else {
		d.record.Usage.PassesStored++
	}
}
