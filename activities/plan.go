package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Plan is what a dialogue's workflow has to do. It carries no text.
type Plan struct {
	Spoken      []int           `json:"spoken,omitempty"` // indices of the turns to synthesise
	Clip        objectstore.Ref `json:"clip,omitzero"`    // set when the clip exists already
	Timeline    objectstore.Ref `json:"timeline,omitzero"`
	NeedsClip   bool            `json:"needs_clip"`        // the modality is heard, or recognised from hearing
	NeedsWords  bool            `json:"needs_words"`       // the detector reads the transcript
	Unheard     bool            `json:"unheard,omitempty"` // nobody needs the clip recognised
	SpeechQueue string          `json:"speech_queue"`
	DetectQueue string          `json:"detect_queue"`
	Rules       vote.Rules      `json:"rules"`

	Modalities   []detect.Modality `json:"modalities"`
	Swap         bool              `json:"swap,omitempty"`          // ask with the option letters in both orders
	SharesPrefix bool              `json:"shares_prefix,omitempty"` // the passes belong where the item was prepared
}

// script is how the dialogue is to be spoken.
func (j Job) script() (evaluation.Script, error) {
	s, err := evaluation.NewScript(j.Spec.Speech, j.Engines.Speech, j.Dialogue, j.Task.Item.CastingNumber)
	if err != nil {
		return s, badInput("plan", err)
	}
	return s, nil
}

// textHash identifies a turn's text as written.
func textHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Planner plans dialogues; its activities are short and run locally.
type Planner struct {
	Library *Library
}

// PlanDialogue decides what one dialogue needs. It looks for the finished clip
// only: each turn looks for its own audio.
func (p *Planner) PlanDialogue(ctx context.Context, task evaluation.Task) (Plan, error) {
	plan, err := p.plan(ctx, task)
	if err == nil && plan.NeedsClip && !plan.Clip.IsZero() {
		p.Library.observer().Used("", evaluation.Usage{ClipsStored: 1}, evaluation.Prices{})
	}
	return plan, toTemporal(err)
}

func (p *Planner) plan(ctx context.Context, task evaluation.Task) (Plan, error) {
	job, err := p.Library.Open(ctx, task)
	if err != nil {
		return Plan{}, err
	}
	needsWords := job.Engines.NeedsWords || job.Spec.Detection.Modality == detect.ASR
	plan := Plan{
		Unheard:     job.Spec.Quality.Off && !needsWords,
		NeedsClip:   job.Spec.Detection.Modality != detect.Text,
		NeedsWords:  job.Engines.NeedsWords && job.Spec.Detection.Modality != detect.Text,
		SpeechQueue: evaluation.SpeechQueue(job.Spec.Speech.Synthesizer),
		DetectQueue: job.Spec.Detection.Queue(),
		Rules:       job.Spec.Rules,
		Clip:        task.Item.Clip,
		Timeline:    task.Item.Timeline,

		Modalities:   job.Spec.Detection.Modalities(),
		Swap:         job.Spec.Detection.OptionOrder == evaluation.OrderBoth,
		SharesPrefix: job.Engines.SharesPrefix,
	}
	if !plan.NeedsClip || !plan.Clip.IsZero() {
		return plan, nil
	}
	s, err := job.script()
	if err != nil {
		return Plan{}, err
	}
	turns := s.ClipTurns()
	// The timeline is written after the clip: with it, both are there, unless the
	// clip was lost since.
	timeline, err := p.Library.Archive.Store.Stat(ctx, evaluation.TimelineKey(turns, job.Spec.Compose))
	if err == nil {
		plan.Clip, err = p.Library.Archive.Store.Stat(ctx, evaluation.ClipKey(turns, job.Spec.Compose))
	}
	if err == nil {
		plan.Timeline = timeline
		return plan, nil
	}
	if !errors.Is(err, objectstore.ErrNotFound) {
		return Plan{}, err
	}
	for i, t := range s.Turns {
		if t.Key != "" {
			plan.Spoken = append(plan.Spoken, i)
		}
	}
	return plan, nil
}

// LoadChunk returns the items of one chunk.
func (p *Planner) LoadChunk(ctx context.Context, ref objectstore.Ref) (evaluation.Chunk, error) {
	chunk, err := objectstore.GetJSON[evaluation.Chunk](ctx, p.Library.Archive.Store, ref)
	return chunk, toTemporal(err)
}
