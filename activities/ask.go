package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
)

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
	question, err := d.question(ctx, job, task)
	if err != nil {
		return StoredResult{}, err
	}
	var meter detect.Meter
	observer, name := d.Library.observer(), job.Spec.Detection.Detector
	ctx = about(ctx, task.Task, zap.String("modality", string(task.Modality)))
	ref, made, err := d.Once.Do(detect.WithMeter(ctx, &meter), key(question), DetectionLifetime, func(ctx context.Context) (object Object, err error) {
		ctx, end := observer.Call(ctx, step(ctx), name)
		defer func() { end(err) }()
		detector, err := d.same(ctx, d.wanted(job.Spec, job.Engines.Exemplars, task.Swapped), question.Detector)
		if err != nil {
			return Object{}, err
		}
		item, err := d.item(ctx, job, task)
		if err != nil {
			return Object{}, err
		}
		return answer(ctx, call{detector: detector, item: item, question: question})
	})
	observer.Tokens(name, meter.Read(), meter.Written())
	result, used := StoredResult{Ref: ref, Made: made}, evaluation.Usage{PassesStored: 1}
	if made {
		result.Requests = max(meter.Requests(), 1) // a detector that counts none is asked once
		used = evaluation.Usage{PassesMade: 1, Questions: result.Requests}
	}
	if err == nil {
		observer.Used(name, used, job.Spec.Prices)
	}
	return result, err
}

// answer is ask for answers that are stored as JSON, which it reads unless it has just
// been made.
func answer[T any](ctx context.Context, d *Detection, task JudgeTask, key func(evaluation.Question) string, question func(context.Context, call) (T, error)) (T, StoredResult, error) {
	var made T
	stored, err := d.ask(ctx, task, key, func(ctx context.Context, c call) (Object, error) {
		var err error
		if made, err = question(ctx, c); err != nil {
			return Object{}, err
		}
		return jsonObject(made)
	})
	if err != nil {
		var none T
		return none, stored, err
	}
	if stored.Made {
		return made, stored, nil
	}
	value, err := objectstore.GetJSON[T](ctx, d.Library.Archive.Store, stored.Ref)
	return value, stored, err
}

// spec is the evaluation's.
func (d *Detection) spec(ctx context.Context, task JudgeTask) (evaluation.Spec, error) {
	manifest, err := d.Library.Manifest(ctx, task.Task.Manifest)
	return manifest.Spec, err
}

// same finds the detector that an evaluation began with. The one that this worker has
// kept may have known the server before it was changed.
func (d *Detection) same(ctx context.Context, w Wanted, want detect.Identity) (detect.Detector, error) {
	detector, err := d.Detectors(ctx, w)
	if err != nil {
		return nil, err
	}
	err = sameDetector(ctx, detector, want)
	if fault.KindOf(err) != fault.Pause {
		return detector, err
	}
	if detector, err = d.find(ctx, w, true); err != nil {
		return nil, err
	}
	return detector, sameDetector(ctx, detector, want)
}

// sameDetector refuses to mix the answers of two detectors in one evaluation:
// the server may have been given another model meanwhile.
func sameDetector(ctx context.Context, detector detect.Detector, want detect.Identity) error {
	got, err := detector.Identity(ctx)
	if err != nil || got == want {
		return err
	}
	return &fault.Error{
		Kind: fault.Pause, Op: "ask the detector", Code: "detector_changed",
		Err:  fmt.Errorf("it is %s now, the evaluation began with %s", differing(got, want), differing(want, got)),
		Hint: "give the worker the detector of the beginning, then resume; or start a new evaluation",
	}
}

// differing names what sets an identity apart from another.
func differing(d, other detect.Identity) string {
	var parts []string
	for _, part := range []struct{ name, value, other string }{
		{"detector", d.Detector, other.Detector}, {"model", d.Model, other.Model},
		{"fingerprint", d.Fingerprint, other.Fingerprint}, {"dialect", d.Dialect, other.Dialect}, {"method", d.Method, other.Method},
	} {
		if part.value != part.other {
			parts = append(parts, fmt.Sprintf("%s %q", part.name, part.value))
		}
	}
	return strings.Join(parts, ", ")
}

// question names everything that shapes the answers about this item.
func (d *Detection) question(ctx context.Context, job Job, task JudgeTask) (evaluation.Question, error) {
	q := evaluation.Question{
		Detector: job.Engines.Detector,
		Modality: task.Modality,
		Input:    task.Clip.SHA256,
	}
	if task.Swapped {
		q.Detector = job.Engines.Swapped
	}
	if q.Modality == detect.Text {
		q.Input = job.Dialogue.TextHash()
	}
	if job.Engines.NeedsWords || q.Modality == detect.ASR {
		q.Words = task.Transcript.Key
	}
	if job.Spec.Detection.Passes == evaluation.PassesFresh {
		q.Fresh = job.Task.Evaluation
	}
	if job.Engines.Exemplars.IsZero() {
		return q, nil
	}
	shown, err := cached[[]evaluation.Exemplar](ctx, d.Library, job.Engines.Exemplars)
	for _, e := range shown {
		hash := e.Item.Line.SHA256
		if q.Modality == detect.Audio {
			hash = e.Item.Clip.SHA256
		}
		q.Exemplars = append(q.Exemplars, hash)
	}
	return q, err
}

// item gives the detector what the modality allows, and nothing else.
func (d *Detection) item(ctx context.Context, job Job, task JudgeTask) (detect.Item, error) {
	store := d.Library.Archive.Store
	item := detect.Item{ID: job.Dialogue.ID, Modality: task.Modality}
	switch item.Modality {
	case detect.Text:
		item.Turns = job.Dialogue.Turns
	case detect.Audio:
		item.Audio = func(ctx context.Context) (audio.PCM, error) { return readClip(ctx, store, task.Clip) }
		item.AudioHash = task.Clip.SHA256
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
