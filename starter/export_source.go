package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/export"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

// exportSource reads what an export is made of, one dialogue at a time.
type exportSource struct {
	store archive.Archive
	lines objectstore.Ref
	items map[string]evaluation.Item
}

var _ export.Source = (*exportSource)(nil)

// Dialogue reads a dialogue of the evaluation.
func (s *exportSource) Dialogue(ctx context.Context, id string) (dialogue.Dialogue, error) {
	item, ok := s.items[id]
	if !ok {
		return dialogue.Dialogue{}, errors.New("it is in no chunk of the evaluation")
	}
	return s.store.Dialogue(ctx, s.lines, item)
}

// Timeline reads a clip's timeline; nil where the store doesn't have it any more.
func (s *exportSource) Timeline(ctx context.Context, ref objectstore.Ref) (*audio.Timeline, error) {
	timeline, err := objectstore.GetJSON[audio.Timeline](ctx, s.store.Store, ref)
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil, nil
	}
	return &timeline, err
}

// Clip opens a clip.
func (s *exportSource) Clip(ctx context.Context, ref objectstore.Ref) (io.ReadCloser, error) {
	return s.store.Store.Open(ctx, ref)
}

// gone returns the dialogues whose clip the store doesn't have any more, so
// that an export knows from its beginning what it lacks.
func (s *exportSource) gone(ctx context.Context, r report.Report) (map[evaluation.Rendition]bool, error) {
	gone := map[evaluation.Rendition]bool{}
	for _, d := range r.Dialogues {
		if d.Clip.IsZero() {
			continue
		}
		_, err := s.store.Store.Stat(ctx, d.Clip.Key)
		switch {
		case errors.Is(err, objectstore.ErrNotFound):
			gone[d.Rendition()] = true
		case err != nil:
			return nil, fmt.Errorf("look for the clip of dialogue %q: %w", d.ID, err)
		}
	}
	return gone, nil
}
