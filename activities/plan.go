package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Plan is what a dialogue's workflow has to do. It carries no text.
type Plan struct {
	Spoken      []int           `json:"spoken,omitempty"` // indices of the turns to synthesise
	Clip        objectstore.Ref `json:"clip,omitzero"`    // set when the clip exists already
	Timeline    objectstore.Ref `json:"timeline,omitzero"`
	NeedsClip   bool            `json:"needs_clip"`  // the modality is heard, or recognised from hearing
	NeedsWords  bool            `json:"needs_words"` // the detector reads the transcript
	SpeechQueue string          `json:"speech_queue"`
	DetectQueue string          `json:"detect_queue"`
	Rules       vote.Rules      `json:"rules"`
}

// script is how a dialogue is to be spoken: pure, so that every activity that
// needs it works it out again instead of passing it through history.
type script struct {
	casting voice.Casting
	turns   []scriptTurn
}

type scriptTurn struct {
	say speech.Request // its text may have no word: then it is not spoken
	key string         // "" for a wordless turn
}

func (s script) clipTurns(job Job) []evaluation.ClipTurn {
	turns := make([]evaluation.ClipTurn, len(s.turns))
	for i, t := range s.turns {
		turns[i] = evaluation.ClipTurn{Key: t.key, Speaker: string(job.Dialogue.Turns[i].Speaker)}
	}
	return turns
}

// script casts the dialogue and derives its turns' keys.
func (j Job) script() (script, error) {
	sp := j.Spec.Speech
	casting, err := voice.Cast(sp.Pool, j.Dialogue.ID, j.Dialogue.Speakers(), sp.CastingSeed)
	if err != nil {
		return script{}, badInput("plan", err)
	}
	s := script{casting: casting}
	for _, turn := range j.Dialogue.Turns {
		slug, _ := casting.Voice(turn.Speaker)
		v, ok := sp.Pool.Voice(slug)
		if !ok {
			return script{}, badInput("plan", fmt.Errorf("pool %q has no voice %q", sp.Pool.Name, slug))
		}
		s.turns = append(s.turns, scriptTurn{say: speech.Request{Text: speech.Normalize(turn.Text), Voice: v, Seed: sp.Seed}})
	}
	if sp.Context {
		s.introduce()
	}
	for i := range s.turns {
		if t := &s.turns[i]; speech.HasWords(t.say.Text) {
			t.key = evaluation.TurnKey(j.Engines.Speech, t.say)
		}
	}
	return s, nil
}

// introduce gives every spoken turn the texts of the spoken turns before and after
// it.
func (s script) introduce() {
	last := -1
	for i, t := range s.turns {
		if !speech.HasWords(t.say.Text) {
			continue
		}
		if last >= 0 {
			s.turns[i].say.Previous = s.turns[last].say.Text
			s.turns[last].say.Next = t.say.Text
		}
		last = i
	}
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
	return plan, toTemporal(err)
}

func (p *Planner) plan(ctx context.Context, task evaluation.Task) (Plan, error) {
	job, err := p.Library.Open(ctx, task)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{
		NeedsClip:   job.Spec.Detection.Modality != detect.Text,
		NeedsWords:  job.Engines.NeedsWords && job.Spec.Detection.Modality != detect.Text,
		SpeechQueue: evaluation.SpeechQueue(job.Spec.Speech.Synthesizer),
		DetectQueue: job.Spec.Detection.Queue(),
		Rules:       job.Spec.Rules,
		Clip:        task.Item.Clip,
	}
	if !plan.NeedsClip || !plan.Clip.IsZero() {
		return plan, nil
	}
	s, err := job.script()
	if err != nil {
		return Plan{}, err
	}
	turns := s.clipTurns(job)
	// The timeline is written after the clip: with it, both are there.
	timeline, err := p.Library.Archive.Store.Stat(ctx, evaluation.TimelineKey(turns, job.Spec.Compose))
	switch {
	case err == nil:
		plan.Timeline = timeline
		plan.Clip, err = p.Library.Archive.Store.Stat(ctx, evaluation.ClipKey(turns, job.Spec.Compose))
		return plan, err
	case !errors.Is(err, objectstore.ErrNotFound):
		return Plan{}, err
	}
	for i, t := range s.turns {
		if t.key != "" {
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
