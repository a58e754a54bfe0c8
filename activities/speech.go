// Package activities holds the steps of an evaluation that touch the world:
// each takes refs, does one thing through a port, stores the result and returns
// refs and small values.
package activities

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/speech"
)

// SynthesisLifetime bounds one call of a synthesizer; the activity's
// StartToClose is longer.
const SynthesisLifetime = 60 * time.Second

// Speech makes turn audio with one synthesizer.
type Speech struct {
	Library     *Library
	Once        Once
	Synthesizer speech.Synthesizer
}

// CheckSpeech identifies the engine and checks every voice of the evaluation's
// pool, before anything is rendered.
func (s *Speech) CheckSpeech(ctx context.Context, manifest objectstore.Ref) (speech.Engine, error) {
	m, err := s.Library.Manifest(ctx, manifest)
	if err != nil {
		return speech.Engine{}, toTemporal(err)
	}
	if err := s.Synthesizer.Check(ctx, m.Spec.Speech.Pool); err != nil {
		return speech.Engine{}, toTemporal(err)
	}
	engine, err := s.Synthesizer.Engine(ctx)
	return engine, toTemporal(err)
}

// TurnTask is one turn to speak.
type TurnTask struct {
	Task evaluation.Task `json:"task"`
	Turn int             `json:"turn"` // its index in the dialogue
}

// TurnResult says what a turn took; its audio lies under the turn's key.
type TurnResult struct {
	Characters int  `json:"characters"`        // sent to the synthesizer; 0 from the store
	Credits    int  `json:"credits,omitempty"` // what the provider says it billed, in its unit
	Made       bool `json:"made"`
}

// usage is what the turn took, as evaluations count it.
func (r TurnResult) usage() evaluation.Usage {
	if !r.Made {
		return evaluation.Usage{TurnsStored: 1}
	}
	return evaluation.Usage{TurnsMade: 1, Characters: r.Characters, Credits: r.Credits}
}

// SynthesizeTurn makes sure that one turn's audio is stored.
func (s *Speech) SynthesizeTurn(ctx context.Context, task TurnTask) (TurnResult, error) {
	result, err := s.synthesize(about(ctx, task.Task, zap.Int("turn", task.Turn)), task)
	return result, toTemporal(err)
}

func (s *Speech) synthesize(ctx context.Context, task TurnTask) (TurnResult, error) {
	job, err := s.Library.Open(ctx, task.Task)
	if err != nil {
		return TurnResult{}, err
	}
	plan, err := job.script()
	if err != nil {
		return TurnResult{}, err
	}
	if task.Turn < 0 || task.Turn >= len(plan.Turns) {
		return TurnResult{}, badInput("synthesise", fmt.Errorf("dialogue %q has no turn %d", job.Dialogue.ID, task.Turn))
	}
	turn := plan.Turns[task.Turn]
	var result TurnResult
	observer, engine := s.Library.observer(), job.Engines.Speech.Name
	_, result.Made, err = s.Once.Do(ctx, turn.Key, SynthesisLifetime, func(ctx context.Context) (Object, error) {
		ctx, end := observer.Call(ctx, step(ctx), engine)
		spoken, err := s.Synthesizer.Synthesize(ctx, turn.Say)
		end(err)
		result.Characters, result.Credits = spoken.Characters, spoken.Credits
		return Object{Body: spoken.Audio, ContentType: "audio/wav"}, err
	})
	if err == nil {
		observer.Used(engine, result.usage(), job.Spec.Prices)
	}
	return result, err
}
