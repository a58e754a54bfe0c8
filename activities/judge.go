package activities

import (
	"context"

	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// JudgeTask is a dialogue to judge, with what the modality needs of it.
type JudgeTask struct {
	Task       evaluation.Task `json:"task"`
	Clip       objectstore.Ref `json:"clip,omitzero"`
	Transcript objectstore.Ref `json:"transcript,omitzero"`
	Prepared   objectstore.Ref `json:"prepared,omitzero"`
	Modality   detect.Modality `json:"modality"`          // what is asked about: never evaluation.Both
	Swapped    bool            `json:"swapped,omitempty"` // ask with the option letters exchanged
}

// PreparedResult is what an item's passes share, and where to ask for them:
// Queue is the preparing worker's own, whose server has just read the prompt.
type PreparedResult struct {
	StoredResult
	Queue string `json:"queue,omitempty"`
}

// PrepareItem does once what the item's passes share. Parallel passes would all
// miss it at once.
func (d *Detection) PrepareItem(ctx context.Context, task JudgeTask) (PreparedResult, error) {
	stored, err := d.ask(ctx, task, evaluation.PreparedKey, func(ctx context.Context, c call) (Object, error) {
		body, err := c.detector.Prepare(ctx, c.item)
		return Object{Body: body, ContentType: "application/json"}, err
	})
	result := PreparedResult{StoredResult: stored}
	if stored.Made {
		result.Queue = d.Affinity
	}
	return result, toTemporal(err)
}

// PassTask is one decision pass.
type PassTask struct {
	JudgeTask
	Index int `json:"index"`
}

// PassResult is a pass's vote and where its whole answer lies.
type PassResult struct {
	StoredResult
	Pass vote.Pass `json:"pass"`
}

// DetectPass makes one pass, or reads it where it is stored.
func (d *Detection) DetectPass(ctx context.Context, task PassTask) (PassResult, error) {
	result, err := d.pass(withFields(ctx, zap.Int("pass", task.Index)), task)
	return result, toTemporal(err)
}

func (d *Detection) pass(ctx context.Context, task PassTask) (PassResult, error) {
	spec, err := d.spec(ctx, task.JudgeTask)
	if err != nil {
		return PassResult{}, err
	}
	sampling := spec.Rules.Sampling
	seedOf := func(q evaluation.Question) int64 {
		return evaluation.PassSeed(spec.Detection.Seed, q.Input, task.Index)
	}
	key := func(q evaluation.Question) string {
		return evaluation.PassKey(q, sampling, task.Index, seedOf(q))
	}
	pass, stored, err := answer(ctx, d, task.JudgeTask, key, func(ctx context.Context, c call) (evaluation.StoredPass, error) {
		seed := seedOf(c.question)
		decision, err := c.detector.Decide(ctx, c.item, detect.Pass{Index: task.Index, Seed: seed, Sampling: sampling})
		return evaluation.StoredPass{
			Question: c.question,
			Pass:     vote.Pass{Index: task.Index, Vote: decision.Vote, Method: decision.Method},
			Seed:     seed,
			Sampling: sampling,
			Decision: decision,
		}, err
	})
	if stored.Made && err == nil {
		d.Library.observer().Voted(spec.Detection.Detector, pass.Pass.Vote)
	}
	return PassResult{StoredResult: stored, Pass: pass.Pass}, err
}

// ChoiceResult is the probability with which one pass would say YES.
type ChoiceResult struct {
	StoredResult
	Yes vote.Nano `json:"yes"`
}

// ChooseVotes finds the distribution that the item's passes would be drawn from.
func (d *Detection) ChooseVotes(ctx context.Context, task JudgeTask) (ChoiceResult, error) {
	result, err := d.choose(ctx, task)
	return result, toTemporal(err)
}

func (d *Detection) choose(ctx context.Context, task JudgeTask) (ChoiceResult, error) {
	spec, err := d.spec(ctx, task)
	if err != nil {
		return ChoiceResult{}, err
	}
	sampling := spec.Rules.Sampling
	key := func(q evaluation.Question) string { return evaluation.ChoiceKey(q, sampling) }
	choice, stored, err := answer(ctx, d, task, key, func(ctx context.Context, c call) (evaluation.StoredChoice, error) {
		chooser, err := chooserOf(c.detector)
		if err != nil {
			return evaluation.StoredChoice{}, err
		}
		choice, err := chooser.Choose(ctx, c.item, sampling)
		return evaluation.StoredChoice{Question: c.question, Sampling: sampling, Choice: choice}, err
	})
	return ChoiceResult{StoredResult: stored, Yes: choice.Choice.Yes}, err
}

// TacticsResult is the options' probabilities, in tactic.Options order. Drawn is
// the option that every tactic pass draws, under vote.DrawSample; "" where none
// has a known probability.
type TacticsResult struct {
	StoredResult
	Masses []vote.Mass     `json:"masses"`
	Drawn  []tactic.Tactic `json:"drawn,omitempty"`
}

// ScoreTactics scores every tactic once: scoring doesn't depend on sampling, so
// one call counts for all tactic passes.
func (d *Detection) ScoreTactics(ctx context.Context, task JudgeTask) (TacticsResult, error) {
	result, err := d.tactics(ctx, task)
	return result, toTemporal(err)
}

func (d *Detection) tactics(ctx context.Context, task JudgeTask) (TacticsResult, error) {
	spec, err := d.spec(ctx, task)
	if err != nil {
		return TacticsResult{}, err
	}
	key := func(q evaluation.Question) string { return evaluation.TacticsKey(q, spec.Rules.TacticForms) }
	tactics, stored, err := answer(ctx, d, task, key, func(ctx context.Context, c call) (evaluation.StoredTactics, error) {
		scores, err := c.detector.ScoreTactics(ctx, c.item)
		return evaluation.StoredTactics{Question: c.question, Scores: scores}, err
	})
	if err != nil {
		return TacticsResult{}, err
	}
	result := TacticsResult{StoredResult: stored, Masses: tactics.Scores.Masses}
	if spec.Rules.TacticDraw == vote.DrawSample {
		result.Drawn, err = drawTactics(result.Masses, spec, tactics.Question.Input)
	}
	return result, err
}

// drawTactics draws every tactic pass's option with the pass's own seed.
func drawTactics(masses []vote.Mass, spec evaluation.Spec, input string) ([]tactic.Tactic, error) {
	seeds := make([]int64, spec.Rules.Passes)
	for i := range seeds {
		seeds[i] = evaluation.PassSeed(spec.Detection.Seed, input, i)
	}
	passes, err := vote.DrawTactics(masses, spec.Rules, seeds)
	if err != nil {
		return nil, badInput("draw tactics", err)
	}
	drawn := make([]tactic.Tactic, len(passes))
	for i, p := range passes {
		drawn[i] = p.Drawn
	}
	return drawn, nil
}

// QuoteTask asks for a YES's evidence; Attempt 1 is the retry.
type QuoteTask struct {
	JudgeTask
	Attempt int           `json:"attempt"`
	Tactic  tactic.Tactic `json:"tactic,omitempty"` // where the rules name it in the question
}

// QuoteResult says where the evidence lies, and whether it is empty; the quote
// itself stays in the store.
type QuoteResult struct {
	StoredResult
	Empty bool `json:"empty"`
}

// QuoteEvidence asks for the words that support a YES.
func (d *Detection) QuoteEvidence(ctx context.Context, task QuoteTask) (QuoteResult, error) {
	request := detect.QuoteRequest{Attempt: task.Attempt, Tactic: task.Tactic}
	key := func(q evaluation.Question) string { return evaluation.QuoteKey(q, request) }
	quote, stored, err := answer(ctx, d, task.JudgeTask, key, func(ctx context.Context, c call) (evaluation.StoredQuote, error) {
		evidence, err := c.detector.Quote(ctx, c.item, request)
		return evaluation.StoredQuote{Question: c.question, Request: request, Evidence: evidence}, err
	})
	return QuoteResult{StoredResult: stored, Empty: quote.Evidence.Quote == ""}, toTemporal(err)
}
