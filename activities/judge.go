package activities

import (
	"context"
	"errors"
	"time"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// DetectionLifetime bounds one call of a detector; the activity's StartToClose
// is longer.
const DetectionLifetime = 2 * time.Minute

// Detectors finds the detector that a spec asks for. The error names the ones
// there are.
type Detectors func(ctx context.Context, spec evaluation.Spec) (detect.Detector, error)

// Detection asks detectors.
type Detection struct {
	Library   *Library
	Once      Once
	Detectors Detectors
	Affinity  string // the worker's own queue beside the shared one; "" for none
}

// DetectorCheck is what a detector says about itself.
type DetectorCheck struct {
	Identity   detect.Identity `json:"identity"`
	NeedsWords bool            `json:"needs_words"`
	Seen       objectstore.Ref `json:"seen"`
}

// CheckDetector identifies the evaluation's detector and stores what it was
// trained on.
func (d *Detection) CheckDetector(ctx context.Context, manifest objectstore.Ref) (DetectorCheck, error) {
	check, err := d.check(ctx, manifest)
	return check, toTemporal(err)
}

func (d *Detection) check(ctx context.Context, manifest objectstore.Ref) (DetectorCheck, error) {
	m, err := d.Library.Manifest(ctx, manifest)
	if err != nil {
		return DetectorCheck{}, err
	}
	detector, err := d.Detectors(ctx, m.Spec)
	if err != nil {
		return DetectorCheck{}, err
	}
	identity, err := detector.Identity(ctx)
	if err != nil {
		return DetectorCheck{}, err
	}
	seen, err := objectstore.PutJSON(ctx, d.Library.Archive.Store, evaluation.SeenKey(m.Spec.ID), detector.Seen(), objectstore.PutOptions{})
	return DetectorCheck{Identity: identity, NeedsWords: detector.NeedsTranscript(), Seen: seen}, err
}

// JudgeTask is a dialogue to judge, with what the modality needs of it.
type JudgeTask struct {
	Task       evaluation.Task `json:"task"`
	Clip       objectstore.Ref `json:"clip,omitzero"`
	Transcript objectstore.Ref `json:"transcript,omitzero"`
	Prepared   objectstore.Ref `json:"prepared,omitzero"`
}

// PrepareItem does once what the item's passes share. Parallel passes would all
// miss it at once.
func (d *Detection) PrepareItem(ctx context.Context, task JudgeTask) (StoredResult, error) {
	result, err := d.ask(ctx, task, evaluation.PreparedKey, func(ctx context.Context, c call) (Object, error) {
		body, err := c.detector.Prepare(ctx, c.item)
		return Object{Body: body, ContentType: "application/json"}, err
	})
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
	return PassResult{Pass: pass.Pass, Ref: stored.Ref, Made: stored.Made}, err
}

// TacticsResult is the options' probabilities, in tactic.Options order.
type TacticsResult struct {
	Masses []vote.Mass     `json:"masses"`
	Ref    objectstore.Ref `json:"ref"`
	Made   bool            `json:"made"`
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
	return TacticsResult{Masses: scores.Scores.Masses, Ref: stored.Ref, Made: stored.Made}, err
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
	return QuoteResult{Ref: stored.Ref, Empty: quote.Evidence.Quote == "", Made: stored.Made}, err
}

// call is one question to a detector.
type call struct {
	detector detect.Detector
	item     detect.Item
	question evaluation.Question
}

// ask answers a question from the store, or has the detector answer it once.
func (d *Detection) ask(ctx context.Context, task JudgeTask, key func(evaluation.Question) string, answer func(context.Context, call) (Object, error)) (StoredResult, error) {
	job, err := d.Library.Open(ctx, task.Task)
	if err != nil {
		return StoredResult{}, err
	}
	question := job.question(task)
	ref, made, err := d.Once.Do(ctx, key(question), DetectionLifetime, func(ctx context.Context) (Object, error) {
		detector, err := d.Detectors(ctx, job.Spec)
		if err != nil {
			return Object{}, err
		}
		item, err := d.item(ctx, job, task)
		if err != nil {
			return Object{}, err
		}
		return answer(ctx, call{detector: detector, item: item, question: question})
	})
	return StoredResult{Ref: ref, Made: made}, err
}

// question names everything that shapes the answers about this item.
func (j Job) question(task JudgeTask) evaluation.Question {
	q := evaluation.Question{
		Detector: j.Engines.Detector,
		Modality: j.Spec.Detection.Modality,
		Input:    task.Clip.SHA256,
	}
	if q.Modality == detect.Text {
		q.Input = j.Dialogue.TextHash()
	}
	if j.Engines.NeedsWords || q.Modality == detect.ASR {
		q.Words = task.Transcript.Key
	}
	if j.Spec.Detection.Passes == evaluation.PassesFresh {
		q.Fresh = j.Task.Evaluation
	}
	return q
}

// item gives the detector what the modality allows, and nothing else.
func (d *Detection) item(ctx context.Context, job Job, task JudgeTask) (detect.Item, error) {
	store := d.Library.Archive.Store
	item := detect.Item{ID: job.Dialogue.ID, Modality: job.Spec.Detection.Modality}
	switch item.Modality {
	case detect.Text:
		item.Turns = job.Dialogue.Turns
	case detect.Audio:
		item.Audio = func(ctx context.Context) (audio.PCM, error) { return readClip(ctx, store, task.Clip) }
	}
	if !task.Transcript.IsZero() {
		item.Transcript = func(ctx context.Context) (recognize.Transcript, error) {
			return objectstore.GetJSON[recognize.Transcript](ctx, store, task.Transcript)
		}
	}
	if task.Prepared.IsZero() {
		return item, nil
	}
	var err error
	item.Prepared, err = objectstore.Bytes(ctx, store, task.Prepared)
	if errors.Is(err, objectstore.ErrNotFound) {
		err = badInput("judge", err)
	}
	return item, err
}
