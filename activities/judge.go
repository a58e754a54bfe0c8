package activities

import (
	"context"

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
	Pass vote.Pass       `json:"pass"`
	Ref  objectstore.Ref `json:"ref"`
	Made bool            `json:"made"`

	Requests int `json:"requests,omitempty"` // to the detector
}

// DetectPass makes one pass, or reads it where it is stored.
func (d *Detection) DetectPass(ctx context.Context, task PassTask) (PassResult, error) {
	result, err := d.pass(ctx, task)
	return result, toTemporal(err)
}

func (d *Detection) pass(ctx context.Context, task PassTask) (PassResult, error) {
	manifest, err := d.Library.Manifest(ctx, task.Task.Manifest)
	if err != nil {
		return PassResult{}, err
	}
	sampling := manifest.Spec.Rules.Sampling
	seedOf := func(q evaluation.Question) int64 {
		return evaluation.PassSeed(manifest.Spec.Detection.Seed, q.Input, task.Index)
	}
	key := func(q evaluation.Question) string {
		return evaluation.PassKey(q, sampling, task.Index, seedOf(q))
	}
	stored, err := d.ask(ctx, task.JudgeTask, key, func(ctx context.Context, c call) (Object, error) {
		seed := seedOf(c.question)
		decision, err := c.detector.Decide(ctx, c.item, detect.Pass{Index: task.Index, Seed: seed, Sampling: sampling})
		if err != nil {
			return Object{}, err
		}
		return jsonObject(evaluation.StoredPass{
			Question: c.question,
			Pass:     vote.Pass{Index: task.Index, Vote: decision.Vote, Method: decision.Method},
			Seed:     seed,
			Sampling: sampling,
			Decision: decision,
		})
	})
	if err != nil {
		return PassResult{}, err
	}
	pass, err := objectstore.GetJSON[evaluation.StoredPass](ctx, d.Library.Archive.Store, stored.Ref)
	return PassResult{Pass: pass.Pass, Ref: stored.Ref, Made: stored.Made, Requests: stored.Requests}, err
}

// ChoiceResult is the probability with which one pass would say YES.
type ChoiceResult struct {
	Yes  vote.Nano       `json:"yes"`
	Ref  objectstore.Ref `json:"ref"`
	Made bool            `json:"made"`

	Requests int `json:"requests,omitempty"` // to the detector
}

// ChooseVotes finds the distribution that the item's passes would be drawn from.
func (d *Detection) ChooseVotes(ctx context.Context, task JudgeTask) (ChoiceResult, error) {
	result, err := d.choose(ctx, task)
	return result, toTemporal(err)
}

func (d *Detection) choose(ctx context.Context, task JudgeTask) (ChoiceResult, error) {
	manifest, err := d.Library.Manifest(ctx, task.Task.Manifest)
	if err != nil {
		return ChoiceResult{}, err
	}
	sampling := manifest.Spec.Rules.Sampling
	key := func(q evaluation.Question) string { return evaluation.ChoiceKey(q, sampling) }
	stored, err := d.ask(ctx, task, key, func(ctx context.Context, c call) (Object, error) {
		chooser, err := chooserOf(c.detector)
		if err != nil {
			return Object{}, err
		}
		choice, err := chooser.Choose(ctx, c.item, sampling)
		if err != nil {
			return Object{}, err
		}
		return jsonObject(evaluation.StoredChoice{Question: c.question, Sampling: sampling, Choice: choice})
	})
	if err != nil {
		return ChoiceResult{}, err
	}
	choice, err := objectstore.GetJSON[evaluation.StoredChoice](ctx, d.Library.Archive.Store, stored.Ref)
	return ChoiceResult{Yes: choice.Choice.Yes, Ref: stored.Ref, Made: stored.Made, Requests: stored.Requests}, err
}

// TacticsResult is the options' probabilities, in tactic.Options order. Drawn is
// the option that every tactic pass draws, under vote.DrawSample.
type TacticsResult struct {
	Masses []vote.Mass     `json:"masses"`
	Drawn  []tactic.Tactic `json:"drawn,omitempty"`
	Ref    objectstore.Ref `json:"ref"`
	Made   bool            `json:"made"`

	Requests int `json:"requests,omitempty"` // to the detector
}

// ScoreTactics scores every tactic once: scoring doesn't depend on sampling, so
// one call counts for all tactic passes.
func (d *Detection) ScoreTactics(ctx context.Context, task JudgeTask) (TacticsResult, error) {
	result, err := d.tactics(ctx, task)
	return result, toTemporal(err)
}

func (d *Detection) tactics(ctx context.Context, task JudgeTask) (TacticsResult, error) {
	manifest, err := d.Library.Manifest(ctx, task.Task.Manifest)
	if err != nil {
		return TacticsResult{}, err
	}
	key := func(q evaluation.Question) string {
		return evaluation.TacticsKey(q, manifest.Spec.Rules.TacticForms)
	}
	stored, err := d.ask(ctx, task, key, func(ctx context.Context, c call) (Object, error) {
		scores, err := c.detector.ScoreTactics(ctx, c.item)
		if err != nil {
			return Object{}, err
		}
		return jsonObject(evaluation.StoredTactics{Question: c.question, Scores: scores})
	})
	if err != nil {
		return TacticsResult{}, err
	}
	scores, err := objectstore.GetJSON[evaluation.StoredTactics](ctx, d.Library.Archive.Store, stored.Ref)
	if err != nil {
		return TacticsResult{}, err
	}
	result := TacticsResult{Masses: scores.Scores.Masses, Ref: stored.Ref, Made: stored.Made, Requests: stored.Requests}
	if manifest.Spec.Rules.TacticDraw == vote.DrawSample {
		result.Drawn = drawTactics(result.Masses, manifest.Spec, scores.Question.Input)
	}
	return result, nil
}

// drawTactics draws every tactic pass's option with the pass's own seed; "" where
// no option has a known probability.
func drawTactics(masses []vote.Mass, spec evaluation.Spec, input string) []tactic.Tactic {
	options := tactic.Options()
	drawn := make([]tactic.Tactic, spec.Rules.Passes)
	for i := range drawn {
		seed := evaluation.PassSeed(spec.Detection.Seed, input, i)
		if place, err := vote.Draw(masses, spec.Rules.Sampling, seed); err == nil && place < len(options) {
			drawn[i] = options[place]
		}
	}
	return drawn
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
	Ref   objectstore.Ref `json:"ref"`
	Empty bool            `json:"empty"`
	Made  bool            `json:"made"`

	Requests int `json:"requests,omitempty"` // to the detector
}

// QuoteEvidence asks for the words that support a YES.
func (d *Detection) QuoteEvidence(ctx context.Context, task QuoteTask) (QuoteResult, error) {
	result, err := d.quote(ctx, task)
	return result, toTemporal(err)
}

func (d *Detection) quote(ctx context.Context, task QuoteTask) (QuoteResult, error) {
	request := detect.QuoteRequest{Attempt: task.Attempt, Tactic: task.Tactic}
	key := func(q evaluation.Question) string { return evaluation.QuoteKey(q, request) }
	stored, err := d.ask(ctx, task.JudgeTask, key, func(ctx context.Context, c call) (Object, error) {
		evidence, err := c.detector.Quote(ctx, c.item, request)
		if err != nil {
			return Object{}, err
		}
		return jsonObject(evaluation.StoredQuote{Question: c.question, Request: request, Evidence: evidence})
	})
	if err != nil {
		return QuoteResult{}, err
	}
	quote, err := objectstore.GetJSON[evaluation.StoredQuote](ctx, d.Library.Archive.Store, stored.Ref)
	return QuoteResult{Ref: stored.Ref, Empty: quote.Evidence.Quote == "", Made: stored.Made, Requests: stored.Requests}, err
}
