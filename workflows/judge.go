package workflows

import (
	"errors"
	"fmt"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// judge listens to the clip and has the dialogue judged, in one modality or in
// two.
func (d *runningDialogue) judge(ctx workflow.Context) error {
	if d.plan.NeedsClip && !d.plan.Unheard {
		if err := d.listen(ctx); err != nil {
			return err
		}
	}
	for i, modality := range d.plan.Modalities {
		j := judging{runningDialogue: d, out: &d.record.Judged}
		if i > 0 {
			d.record.Text = &activities.Judged{}
			j.out = d.record.Text
		}
		j.task = activities.JudgeTask{Task: d.record.Task, Clip: d.record.Clip, Transcript: d.record.Transcript, Modality: modality}
		if modality == detect.Text {
			j.task.Transcript = objectstore.Ref{} // of what was heard: the text alone is judged
		}
		if err := j.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// listen has the clip recognised, for the detectors that read words and for the
// quality gate, and measured against its text.
func (d *runningDialogue) listen(ctx workflow.Context) error {
	d.enter(ctx, "recognising the clip")
	task := activities.ClipTask{Task: d.record.Task, Clip: d.record.Clip, Timeline: d.record.Timeline}
	var transcript, quality activities.StoredResult
	if err := d.one(ctx, func() workflow.Future {
		return workflow.ExecuteActivity(listenOptions(ctx, "recognise clip"), (*activities.Clips)(nil).RecognizeClip, task)
	}, &transcript); err != nil {
		return err
	}
	d.record.Transcript = transcript.Ref
	if transcript.Made {
		d.record.Usage.Recognized++
	} else {
		d.record.Usage.RecognizedStored++
	}
	task.Transcript = transcript.Ref
	if err := d.one(ctx, func() workflow.Future {
		return workflow.ExecuteActivity(listenOptions(ctx, "measure clip"), (*activities.Clips)(nil).MeasureClip, task)
	}, &quality); err != nil {
		return err
	}
	d.record.Quality = quality.Ref
	return nil
}

// judging is the judging of a dialogue in one modality.
type judging struct {
	*runningDialogue
	task activities.JudgeTask
	out  *activities.Judged
}

// run decides, votes, and asks for the tactic and the evidence of a YES.
func (j *judging) run(ctx workflow.Context) error {
	var err error
	if j.out.Answers, err = j.decide(ctx, &j.task); err != nil {
		return err
	}
	j.out.Verdict = j.out.Outcome
	if j.plan.Swap {
		// The letters' order is no part of the later questions: their task stays.
		swapped := j.task
		swapped.Swapped, swapped.Prepared = true, objectstore.Ref{}
		answers, err := j.decide(ctx, &swapped)
		if err != nil {
			return err
		}
		j.out.Swapped = &answers
		j.out.Verdict = vote.Combine(j.out.Outcome, answers.Outcome)
	}
	if j.out.Verdict.Verdict != vote.Yes {
		return nil
	}
	j.enter(ctx, "attributing the tactic")
	return j.explain(ctx)
}

// decide prepares the item, which fills in the task, and has the passes made.
func (j *judging) decide(ctx workflow.Context, task *activities.JudgeTask) (activities.Answers, error) {
	j.enter(ctx, "preparing")
	var prepared activities.PreparedResult
	if err := j.ask(ctx, "prepare", (*activities.Detection)(nil).PrepareItem, *task, &prepared); err != nil {
		return activities.Answers{}, err
	}
	j.record.Usage.Questions += prepared.Requests
	task.Prepared = prepared.Ref
	if j.plan.Rules.Votes == vote.VotesAnalytic {
		return j.choose(ctx, *task)
	}
	own := ""
	if j.plan.SharesPrefix {
		own = prepared.Queue
	}
	var answers activities.Answers
	var passes []vote.Pass
	for next := vote.Next(nil, j.plan.Rules); len(next) > 0; next = vote.Next(passes, j.plan.Rules) {
		j.enter(ctx, fmt.Sprintf("making %d passes", len(next)))
		results, err := j.makePasses(ctx, *task, own, next)
		for _, result := range results {
			passes = append(passes, result.Pass)
			answers.Passes = append(answers.Passes, result.Ref)
		}
		if err != nil {
			return answers, err
		}
	}
	answers.Outcome = vote.Decide(passes, j.plan.Rules)
	return answers, nil
}

// choose asks once for the distribution that passes would be drawn from.
func (j *judging) choose(ctx workflow.Context, task activities.JudgeTask) (activities.Answers, error) {
	j.enter(ctx, "finding the votes' distribution")
	var choice activities.ChoiceResult
	if err := j.ask(ctx, "choose", (*activities.Detection)(nil).ChooseVotes, task, &choice); err != nil {
		return activities.Answers{}, err
	}
	j.countAnswer(choice.Made, choice.Requests)
	answers := activities.Answers{Choice: choice.Ref}
	answers.Outcome, answers.Majority = vote.DecideAnalytic(choice.Yes, j.plan.Rules)
	return answers, nil
}

// makePasses makes some passes side by side, and returns their results in the
// same order. They are asked of the worker that prepared the item, whose server
// has its prompt at hand; where that worker is busy or gone, of any.
func (j *judging) makePasses(ctx workflow.Context, task activities.JudgeTask, own string, indices []int) ([]activities.PassResult, error) {
	results := make([]activities.PassResult, 0, len(indices))
	start := func(options workflow.Context, index int) workflow.Future {
		return workflow.ExecuteActivity(options, (*activities.Detection)(nil).DetectPass, activities.PassTask{JudgeTask: task, Index: index})
	}
	anywhere := func(index int) workflow.Future {
		return start(detectOptions(ctx, j.plan.DetectQueue, fmt.Sprintf("pass %d", index)), index)
	}
	preferred := anywhere
	if own != "" {
		preferred = func(index int) workflow.Future {
			future, set := workflow.NewFuture(ctx)
			workflow.Go(ctx, func(ctx workflow.Context) {
				f := start(affinityOptions(ctx, own, fmt.Sprintf("pass %d", index)), index)
				if notStarted(f.Get(ctx, nil)) {
					f = anywhere(index)
				}
				set.Chain(f)
			})
			return future
		}
	}
	err := j.do(ctx, indices, preferred, func(_ int, f workflow.Future) error {
		var result activities.PassResult
		if err := f.Get(ctx, &result); err != nil {
			return err
		}
		results = append(results, result)
		j.countAnswer(result.Made, result.Requests)
		return nil
	})
	slices.SortFunc(results, func(a, b activities.PassResult) int { return a.Pass.Index - b.Pass.Index })
	return results, err
}

// notStarted reports whether a worker's own queue was not served in time.
func notStarted(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// explain attributes a YES to a tactic and asks for its evidence, once more when
// the quote is empty.
func (j *judging) explain(ctx workflow.Context) error {
	var scored activities.TacticsResult
	if err := j.ask(ctx, "score tactics", (*activities.Detection)(nil).ScoreTactics, j.task, &scored); err != nil {
		return err
	}
	j.countAnswer(scored.Made, scored.Requests)
	j.out.Tactics = scored.Ref
	passes := vote.ScoredPasses(scored.Masses, j.plan.Rules)
	for i, drawn := range scored.Drawn {
		if i < len(passes) {
			passes[i].Drawn = drawn
		}
	}
	outcome := vote.DecideTactic(passes, j.plan.Rules)
	j.out.Tactic = &outcome

	j.enter(ctx, "quoting the evidence")
	quote := activities.QuoteTask{JudgeTask: j.task}
	if j.plan.Rules.Evidence == vote.EvidenceTactic {
		if outcome.Tactic == tactic.None || outcome.Tactic == "" {
			return nil
		}
		quote.Tactic = outcome.Tactic
	}
	return j.askQuote(ctx, quote)
}

func (j *judging) askQuote(ctx workflow.Context, task activities.QuoteTask) error {
	for attempt := range j.plan.Rules.QuoteRetries + 1 {
		task.Attempt = attempt
		var result activities.QuoteResult
		if err := j.ask(ctx, "quote evidence", (*activities.Detection)(nil).QuoteEvidence, task, &result); err != nil {
			return err
		}
		j.countAnswer(result.Made, result.Requests)
		j.out.Quotes = append(j.out.Quotes, result.Ref)
		if !result.Empty {
			break
		}
	}
	return nil
}

// ask puts one question to the detector.
func (j *judging) ask(ctx workflow.Context, summary string, activity, task, result any) error {
	return j.one(ctx, func() workflow.Future {
		return workflow.ExecuteActivity(detectOptions(ctx, j.plan.DetectQueue, summary), activity, task)
	}, result)
}

func (d *runningDialogue) countAnswer(made bool, requests int) {
	d.record.Usage.Questions += requests
	if made {
		d.record.Usage.PassesMade++
	} else {
		d.record.Usage.PassesStored++
	}
}
