package activities

import (
	"context"
	"slices"
	"time"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Records writes down what an evaluation is and finds out.
type Records struct {
	Library *Library
}

// SaveEngines stores who speaks, listens and judges.
func (r *Records) SaveEngines(ctx context.Context, id string, engines evaluation.Engines) (objectstore.Ref, error) {
	ref, err := objectstore.PutJSON(ctx, r.Library.Archive.Store, evaluation.EnginesKey(id), engines, objectstore.PutOptions{})
	return ref, toTemporal(err)
}

// SaveSpeaking stores who renders an evaluation's exemplars, before the detector
// that shows them can say who it is.
func (r *Records) SaveSpeaking(ctx context.Context, id string, engines evaluation.Engines) (objectstore.Ref, error) {
	ref, err := objectstore.PutJSON(ctx, r.Library.Archive.Store, evaluation.SpeakingKey(id), engines, objectstore.PutOptions{})
	return ref, toTemporal(err)
}

// SaveExemplars stores the exemplars of a manifest with the clips that were
// rendered of them, which are in the same order; none where nothing is heard.
func (r *Records) SaveExemplars(ctx context.Context, manifest objectstore.Ref, clips []objectstore.Ref) (objectstore.Ref, error) {
	ref, err := r.saveExemplars(ctx, manifest, clips)
	return ref, toTemporal(err)
}

func (r *Records) saveExemplars(ctx context.Context, manifest objectstore.Ref, clips []objectstore.Ref) (objectstore.Ref, error) {
	m, err := r.Library.Manifest(ctx, manifest)
	if err != nil {
		return objectstore.Ref{}, err
	}
	shown := slices.Clone(m.Shown)
	for i, clip := range clips {
		if i < len(shown) {
			shown[i].Item.Clip = clip
		}
	}
	return objectstore.PutJSON(ctx, r.Library.Archive.Store, evaluation.ExemplarsKey(m.Spec.ID), shown, objectstore.PutOptions{})
}

// RecordTask is a dialogue's end: refs to what was found, or the failure.
type RecordTask struct {
	Task       evaluation.Task     `json:"task"`
	Failure    *evaluation.Failure `json:"failure,omitempty"`
	Clip       objectstore.Ref     `json:"clip,omitzero"`
	Timeline   objectstore.Ref     `json:"timeline,omitzero"`
	Transcript objectstore.Ref     `json:"transcript,omitzero"`
	Quality    objectstore.Ref     `json:"quality,omitzero"`
	Judged                         // as in evaluation.Record
	Text       *Judged             `json:"text,omitempty"`
	Usage      evaluation.Usage    `json:"usage"`
}

// Judged is what judging a dialogue in one modality decided, and where the
// answers lie.
type Judged struct {
	Answers                     // with the letters in their usual order
	Swapped *Answers            `json:"swapped,omitempty"` // with the letters exchanged, where both orders are asked
	Verdict vote.Outcome        `json:"verdict,omitzero"`  // of both
	Tactic  *vote.TacticOutcome `json:"tactic,omitempty"`
	Tactics objectstore.Ref     `json:"tactics,omitzero"`
	Quotes  []objectstore.Ref   `json:"quotes,omitempty"` // one an attempt, the last one counts
}

// Answers are the decisions with the letters in one order.
type Answers struct {
	Passes   []objectstore.Ref `json:"passes,omitempty"`
	Choice   objectstore.Ref   `json:"choice,omitzero"`    // in place of Passes, under vote.VotesAnalytic
	Majority vote.Nano         `json:"majority,omitempty"` // of Choice
	Outcome  vote.Outcome      `json:"outcome,omitzero"`
}

// SaveRecord gathers everything about a dialogue into its record.
func (r *Records) SaveRecord(ctx context.Context, task RecordTask) (objectstore.Ref, error) {
	ref, err := r.save(ctx, task)
	return ref, toTemporal(err)
}

func (r *Records) save(ctx context.Context, task RecordTask) (objectstore.Ref, error) {
	job, err := r.Library.Open(ctx, task.Task)
	if err != nil {
		return objectstore.Ref{}, err
	}
	record := evaluation.Record{
		Evaluation:    task.Task.Evaluation,
		ID:            job.Dialogue.ID,
		CastingNumber: task.Task.Item.CastingNumber,
		Truth:         job.Dialogue.Truth,
		Tactics:       job.Dialogue.Tactics,
		TextHash:      job.Dialogue.TextHash(),
		Turns:         len(job.Dialogue.Turns),
		Failure:       task.Failure,
		Clip:          task.Clip,
		Timeline:      task.Timeline,
		Transcript:    task.Transcript,
		Usage:         task.Usage,
	}
	for _, t := range job.Dialogue.Turns {
		if !speech.HasWords(speech.Normalize(t.Text)) {
			record.Wordless++
		}
	}
	// Of several castings one that failed counts against its voices.
	if !task.Timeline.IsZero() || record.CastingNumber > 0 {
		plan, err := job.script()
		if err != nil && task.Failure == nil {
			return objectstore.Ref{}, err
		}
		record.Casting = plan.Casting
	}
	if err := r.gather(ctx, job, task, &record); err != nil {
		return objectstore.Ref{}, err
	}
	ref, err := r.Library.Archive.PutRecord(ctx, task.Task.Chunk, record)
	if err == nil {
		r.Library.observer().Recorded(record)
	}
	return ref, err
}

// gather reads what the record shows of the stored objects.
func (r *Records) gather(ctx context.Context, job Job, task RecordTask, record *evaluation.Record) error {
	store := r.Library.Archive.Store
	if !task.Timeline.IsZero() {
		timeline, err := objectstore.GetJSON[audio.Timeline](ctx, store, task.Timeline)
		if err != nil {
			return err
		}
		record.ClipSeconds = timeline.Seconds
	} else if !task.Transcript.IsZero() {
		transcript, err := objectstore.GetJSON[recognize.Transcript](ctx, store, task.Transcript)
		if err != nil {
			return err
		}
		record.ClipSeconds = transcript.Length
	}
	if !task.Quality.IsZero() {
		quality, err := objectstore.GetJSON[evaluation.ClipQuality](ctx, store, task.Quality)
		if err != nil {
			return err
		}
		record.Quality = &quality
	}
	var err error
	if record.Judgement, err = r.judgement(ctx, job, task.Judged, job.Spec.Detection.Modalities()[0]); err != nil {
		return err
	}
	if task.Text != nil {
		text, err := r.judgement(ctx, job, *task.Text, detect.Text)
		if err != nil {
			return err
		}
		record.Text = &text
	}
	return nil
}

// CloseChunk gathers the records of a finished chunk into its shard.
func (r *Records) CloseChunk(ctx context.Context, id string, chunk int) (objectstore.Ref, error) {
	ref, err := r.Library.Archive.PutShard(ctx, id, chunk)
	return ref, toTemporal(err)
}

// WriteReport notes that the evaluation has ended, builds the report from what is
// stored, and stores it.
func (r *Records) WriteReport(ctx context.Context, id string) (objectstore.Ref, error) {
	if err := r.Library.Archive.PutEnded(ctx, id, evaluation.Ended{Ended: time.Now().UTC()}); err != nil {
		return objectstore.Ref{}, toTemporal(err)
	}
	built, err := r.Library.Archive.Report(ctx, id)
	if err != nil {
		return objectstore.Ref{}, toTemporal(err)
	}
	ref, err := r.Library.Archive.PutReport(ctx, id, built)
	return ref, toTemporal(err)
}
