package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
)

// RecognitionLifetime bounds one recognition; long clips take minutes on a slow
// machine.
const RecognitionLifetime = 10 * time.Minute

// Clips composes, recognises and measures clips.
type Clips struct {
	Library    *Library
	Once       Once
	Recognizer recognize.Recognizer
	Software   string // what composes, for the clip's provenance
}

// CheckRecognizer identifies the recogniser.
func (c *Clips) CheckRecognizer(ctx context.Context) (recognize.Engine, error) {
	engine, err := c.Recognizer.Engine(ctx)
	return engine, toTemporal(err)
}

// ClipResult is a composed clip.
type ClipResult struct {
	Clip     objectstore.Ref `json:"clip"`
	Timeline objectstore.Ref `json:"timeline"`
}

// ComposeClip joins the stored audio of all turns into the dialogue's clip.
func (c *Clips) ComposeClip(ctx context.Context, task evaluation.Task) (ClipResult, error) {
	result, err := c.compose(ctx, task)
	return result, toTemporal(err)
}

func (c *Clips) compose(ctx context.Context, task evaluation.Task) (ClipResult, error) {
	job, err := c.Library.Open(ctx, task)
	if err != nil {
		return ClipResult{}, err
	}
	plan, err := job.script()
	if err != nil {
		return ClipResult{}, err
	}
	store := c.Library.Archive.Store
	sources := make([]audio.TurnSource, len(plan.Turns))
	for i, t := range plan.Turns {
		turn := job.Dialogue.Turns[i]
		sources[i] = audio.TurnSource{
			Turn:     i,
			Speaker:  string(turn.Speaker),
			Voice:    t.Say.Voice.Slug,
			TextHash: textHash(turn.Text),
			Silent:   t.Key == "",
			Open: func() (io.ReadCloser, error) {
				return store.Open(ctx, objectstore.Ref{Key: t.Key})
			},
		}
	}
	file, err := os.CreateTemp("", "speechmanip-clip-*.wav")
	if err != nil {
		return ClipResult{}, fmt.Errorf("compose clip: %w", err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	began := c.Once.Now()
	timeline, err := audio.Compose(file, sources, job.Spec.Compose, audio.Provenance{
		Title:       job.Dialogue.ID,
		Synthesizer: job.Engines.Speech.Name + " " + job.Engines.Speech.Version,
		Software:    c.Software,
	})
	if err != nil {
		c.findLost(ctx, plan, err)
		return ClipResult{}, composeFault(err)
	}
	c.Library.observer().Composed(timeline.Seconds, c.Once.Now().Sub(began))
	return c.store(ctx, file, timeline, plan.ClipTurns(), job.Spec.Compose)
}

// findLost looks at every turn once one is lost, so that all that are lost are
// spoken again together.
func (c *Clips) findLost(ctx context.Context, plan evaluation.Script, err error) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != CodeLost {
		return
	}
	for _, t := range plan.Turns {
		if t.Key != "" {
			_, _ = objectstore.Bytes(ctx, c.Library.Archive.Store, objectstore.Ref{Key: t.Key}) // the error is that of the first
		}
	}
}

// composeFault makes audio that can't be composed permanent: it would be the same
// again. A store's fault and a full disk stay what they are.
func composeFault(err error) error {
	var f *fault.Error
	var file *fs.PathError
	if errors.As(err, &f) || errors.As(err, &file) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("compose clip: %w", err)
	}
	return badInput("compose clip", err)
}

// store puts the clip first and its timeline last, so that a timeline in the
// store says that both are there.
func (c *Clips) store(ctx context.Context, clip *os.File, timeline audio.Timeline, turns []evaluation.ClipTurn, options audio.ComposeOptions) (ClipResult, error) {
	if _, err := clip.Seek(0, io.SeekStart); err != nil {
		return ClipResult{}, fmt.Errorf("compose clip: %w", err)
	}
	store := c.Library.Archive.Store
	clipRef, err := store.Put(ctx, evaluation.ClipKey(turns, options), clip, objectstore.PutOptions{ContentType: "audio/wav"})
	if err != nil {
		return ClipResult{}, err
	}
	timelineRef, err := objectstore.PutJSON(ctx, store, evaluation.TimelineKey(turns, options), timeline, objectstore.PutOptions{})
	return ClipResult{Clip: clipRef, Timeline: timelineRef}, err
}

// ClipTask is a clip of a dialogue; Timeline and Transcript where there are any.
type ClipTask struct {
	Task       evaluation.Task `json:"task"`
	Clip       objectstore.Ref `json:"clip"`
	Timeline   objectstore.Ref `json:"timeline,omitzero"`
	Transcript objectstore.Ref `json:"transcript,omitzero"`
}

// StoredResult is something stored, and whether it was made now.
type StoredResult struct {
	Ref  objectstore.Ref `json:"ref"`
	Made bool            `json:"made"`
	// Requests is how many were sent to a detector for it.
	Requests int `json:"requests,omitempty"`
}

// RecognizeClip makes sure that the recogniser's words of a clip are stored.
func (c *Clips) RecognizeClip(ctx context.Context, task ClipTask) (StoredResult, error) {
	defer beating(ctx)()
	result, err := c.recognize(about(ctx, task.Task), task)
	return result, toTemporal(err)
}

func (c *Clips) recognize(ctx context.Context, task ClipTask) (StoredResult, error) {
	engines, err := c.Library.Engines(ctx, task.Task.Engines)
	if err != nil {
		return StoredResult{}, err
	}
	observer := c.Library.observer()
	key := evaluation.TranscriptKey(engines.Recognizer, task.Clip.SHA256)
	ref, made, err := c.Once.Do(ctx, key, RecognitionLifetime, func(ctx context.Context) (Object, error) {
		clip, err := readClip(ctx, c.Library.Archive.Store, task.Clip)
		if err != nil {
			return Object{}, err
		}
		ctx, end := observer.Call(ctx, step(ctx), engines.Recognizer.Name)
		transcript, err := c.Recognizer.Recognize(ctx, clip)
		end(err)
		if err != nil {
			return Object{}, err
		}
		return jsonObject(transcript)
	})
	switch {
	case err != nil:
	case made:
		observer.Used(engines.Recognizer.Name, evaluation.Usage{Recognized: 1}, evaluation.Prices{})
	default:
		observer.Used(engines.Recognizer.Name, evaluation.Usage{RecognizedStored: 1}, evaluation.Prices{})
	}
	return StoredResult{Ref: ref, Made: made}, err
}

// readClip reads and decodes a clip. One that can't be decoded is a permanent
// fault that names it.
func readClip(ctx context.Context, store objectstore.Store, ref objectstore.Ref) (audio.PCM, error) {
	data, err := objectstore.Bytes(ctx, store, ref)
	if err != nil {
		return audio.PCM{}, err
	}
	pcm, _, err := audio.Decode(data)
	if err != nil {
		return audio.PCM{}, badInput(fmt.Sprintf("decode clip %q", ref.Key), err)
	}
	if len(pcm.Samples) == 0 {
		return audio.PCM{}, badInput(fmt.Sprintf("decode clip %q", ref.Key), errors.New("it has no samples"))
	}
	return pcm, nil
}

func jsonObject(value any) (Object, error) {
	body, err := json.Marshal(value)
	return Object{Body: body, ContentType: "application/json"}, err
}
