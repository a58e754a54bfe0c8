package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/prompt"
)

// source is what is stored of the evaluation whose clips are judged again.
type source struct {
	archive.Source
	shown []shownExemplar // as Shown, with what was said
}

func readSource(ctx context.Context, store archive.Archive, id string) (source, error) {
	stored, err := store.Source(ctx, id)
	if err != nil {
		return source{}, unknown(id, err)
	}
	s := source{Source: stored}
	for _, e := range stored.Shown {
		d, err := store.Dialogue(ctx, stored.Manifest.Spec.Dataset.Lines, e.Item)
		if err != nil {
			return s, fmt.Errorf("read the exemplars: %w", err)
		}
		s.shown = append(s.shown, shownExemplar{Exemplar: e.Exemplar, dialogue: d})
	}
	return s, nil
}

// show gives the plan the evaluation's exemplars, where its prompts show some.
func (s source) show(p *plan) error {
	d := p.spec.Detection
	if d.Detector != chatDetector {
		return nil
	}
	strategy, err := prompt.Find(d.Strategy)
	if err != nil || strategy.Exemplars == 0 {
		return err
	}
	if len(s.shown) != strategy.Exemplars {
		return fmt.Errorf("evaluation %q showed %d exemplars, prompt strategy %s shows %d: start with `starter evaluate --prompt %s`", s.Manifest.Spec.ID, len(s.shown), d.Strategy, strategy.Exemplars, d.Strategy)
	}
	var errs []error
	for i, e := range s.shown {
		errs = append(errs, e.complete(p.spec.Rules))
		if s.Shown[i].Item.Clip.IsZero() && slices.Contains(d.Modalities(), detect.Audio) {
			errs = append(errs, fmt.Errorf("exemplar %q has no clip in evaluation %q, and nothing is synthesised: start with `starter evaluate`", e.ID, s.Manifest.Spec.ID))
		}
	}
	p.shown = s.shown
	return errors.Join(errs...)
}

// exemplarsOf are the exemplars as the new manifest names them.
func (s source) exemplarsOf(p plan) []evaluation.Exemplar {
	if len(p.shown) == 0 {
		return nil
	}
	return slices.Clone(s.Shown)
}
