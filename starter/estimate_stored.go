package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/speech"
)

// stored is turn audio that lies in the store already, of its own or within clips.
type stored struct {
	Engine     speech.Engine `json:"engine"`
	Clips      int           `json:"clips"`
	Turns      int           `json:"turns"` // those of the clips too
	Characters int           `json:"characters"`
	Seconds    float64       `json:"clip_seconds"`
	clipped    int           // characters of the clips
}

func (s *stored) add(other stored) {
	s.Clips += other.Clips
	s.Turns += other.Turns
	s.Characters += other.Characters
	s.Seconds += other.Seconds
	s.clipped += other.clipped
}

// rate measures the stored clips; the second value is false where there are none.
func (s *stored) rate() (evaluation.Rate, bool) {
	if s == nil || s.Seconds <= 0 || s.clipped == 0 {
		return evaluation.Rate{}, false
	}
	return evaluation.Rate{PerSecond: float64(s.clipped) / s.Seconds, Source: fmt.Sprintf("measured on %d of its stored clips", s.Clips)}, true
}

// lookUp finds what of a plan is stored already. Where it can't, the second value
// says why.
func (a *app) lookUp(ctx context.Context, p plan) (*stored, string) {
	found, err := a.findStored(ctx, p)
	if err != nil {
		return nil, err.Error()
	}
	return &found, ""
}

func (a *app) findStored(ctx context.Context, p plan) (stored, error) {
	opening, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cfg, store, err := a.openStore(opening)
	if err != nil {
		return stored{}, err
	}
	engine, err := a.askEngine(ctx, cfg, store, p.spec)
	if err != nil {
		return stored{}, err
	}
	all := renditions(p.spec, p.dialogues)
	for _, e := range p.shown {
		all = append(all, rendition{e.dialogue, 0})
	}
	found, err := lookForAll(ctx, store.Store, p.spec, engine, all)
	found.Engine = engine
	return found, err
}

// askEngine asks a speech worker for its engine's version, which is part of every
// key: only workers know it.
func (a *app) askEngine(ctx context.Context, cfg config.Config, store archive.Archive, spec evaluation.Spec) (speech.Engine, error) {
	dialing, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := a.dialToStart(dialing, cfg, store)
	if err != nil {
		return speech.Engine{}, err
	}
	defer c.Close()
	name := evaluation.SpeechQueue(spec.Speech.Synthesizer)
	for _, q := range []queue{{name: evaluation.QueueMain, kind: enumspb.TASK_QUEUE_TYPE_WORKFLOW}, {name: name, kind: enumspb.TASK_QUEUE_TYPE_ACTIVITY}} {
		if polled, err := pollers(ctx, c, q); err != nil {
			return speech.Engine{}, err
		} else if polled.workers == 0 {
			return speech.Engine{}, fmt.Errorf("no worker on queue %q can say which engine it is", q.name)
		}
	}
	diagnosis, _, err := diagnose(ctx, c, evaluation.DiagnoseInput{Spec: spec, Queues: []string{name}})
	if err != nil {
		return speech.Engine{}, err
	}
	for _, q := range diagnosis.Queues {
		if q.Engine != (speech.Engine{}) {
			return q.Engine, nil
		}
		for _, f := range q.Findings {
			if !f.OK {
				return speech.Engine{}, fmt.Errorf("%s at queue %q: %s", f.What, q.Queue, f.Detail)
			}
		}
	}
	return speech.Engine{}, fmt.Errorf("the worker on queue %q names no engine", name)
}

// rendition is a dialogue in one of its castings.
type rendition struct {
	dialogue.Dialogue
	castingNumber int
}

func renditions(spec evaluation.Spec, dialogues []dialogue.Dialogue) []rendition {
	var all []rendition
	for _, d := range dialogues {
		for _, number := range spec.CastingNumbers() {
			all = append(all, rendition{d, number})
		}
	}
	return all
}

// looksAtOnce keeps a store busy without flooding it.
const looksAtOnce = 16

func lookForAll(ctx context.Context, store objectstore.Store, spec evaluation.Spec, engine speech.Engine, all []rendition) (stored, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		total stored
		first error
		wg    sync.WaitGroup
	)
	next := make(chan rendition)
	for range min(looksAtOnce, len(all)) {
		wg.Go(func() {
			for d := range next {
				found, err := lookFor(ctx, store, spec, engine, d)
				mu.Lock()
				total.add(found)
				if err != nil && first == nil {
					first = err
					cancel() // the others' errors are of this
				}
				mu.Unlock()
			}
		})
	}
	for _, d := range all {
		next <- d
	}
	close(next)
	wg.Wait()
	return total, first
}

// lookFor looks for a dialogue's clip, as evaluations do, and only without it for its
// turns.
func lookFor(ctx context.Context, store objectstore.Store, spec evaluation.Spec, engine speech.Engine, d rendition) (stored, error) {
	if err := ctx.Err(); err != nil {
		return stored{}, err
	}
	script, err := evaluation.NewScript(spec.Speech, engine, d.Dialogue, d.castingNumber)
	if err != nil {
		return stored{}, fmt.Errorf("dialogue %q: %w", d.ID, err)
	}
	key := evaluation.TimelineKey(script.ClipTurns(), spec.Compose)
	timeline, err := objectstore.GetJSON[audio.Timeline](ctx, store, objectstore.Ref{Key: key})
	if err == nil {
		turns, characters := evaluation.Spoken(spec, d.Dialogue)
		return stored{Clips: 1, Turns: turns, Characters: characters, Seconds: timeline.Seconds, clipped: characters}, nil
	}
	if !errors.Is(err, objectstore.ErrNotFound) {
		return stored{}, err
	}
	var found stored
	for _, turn := range script.Turns {
		if turn.Key == "" {
			continue
		}
		_, err := store.Stat(ctx, turn.Key)
		switch {
		case err == nil:
			found.Turns++
			found.Characters += turn.Characters()
		case !errors.Is(err, objectstore.ErrNotFound):
			return found, err
		}
	}
	return found, nil
}
