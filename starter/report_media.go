package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

// mediaOf returns what a page shows of the dialogues: what was said, when, and the
// clip where locate says. It counts the clips of which locate says that the store
// doesn't have them.
func mediaOf(ctx context.Context, store archive.Archive, r report.Report, locate func(report.Dialogue) (url string, err error)) (media report.Media, gone int, err error) {
	texts, err := turns(ctx, store, r)
	if err != nil {
		return nil, 0, err
	}
	media = report.Media{}
	for _, d := range r.Dialogues {
		one := report.DialogueMedia{Turns: slices.Clone(texts[d.ID])} // timed apart in every casting
		if one.Turns, err = timed(ctx, store.Store, one.Turns, d.Timeline); err != nil {
			return nil, gone, err
		}
		if !d.Clip.IsZero() {
			url, err := locate(d)
			switch {
			case errors.Is(err, objectstore.ErrNotFound):
				gone++
			case err != nil:
				return nil, gone, fmt.Errorf("clip of dialogue %q: %w", d.ID, err)
			default:
				one.Audio = url
			}
		}
		media[d.Rendition()] = one
	}
	return media, gone, nil
}

// turns returns every dialogue's turns as written, by the dialogue's id.
func turns(ctx context.Context, store archive.Archive, r report.Report) (map[string][]report.MediaTurn, error) {
	m, _, err := store.Manifest(ctx, r.Evaluation)
	if err != nil {
		return nil, err
	}
	items, err := store.Items(ctx, m)
	if err != nil {
		return nil, err
	}
	dialogues, err := store.Dialogues(ctx, m.Spec.Dataset.Lines, items)
	if err != nil {
		return nil, err
	}
	out := map[string][]report.MediaTurn{}
	for _, d := range dialogues {
		if _, known := out[d.ID]; known {
			continue // in another casting
		}
		for _, turn := range d.Turns {
			out[d.ID] = append(out[d.ID], report.MediaTurn{Speaker: string(turn.Speaker), Text: turn.Text})
		}
	}
	return out, nil
}

// timed adds when each turn is heard. A clip that was given has no timeline, and
// one may be gone: then nothing is known of it.
func timed(ctx context.Context, store objectstore.Store, turns []report.MediaTurn, ref objectstore.Ref) ([]report.MediaTurn, error) {
	if ref.IsZero() {
		return turns, nil
	}
	timeline, err := objectstore.GetJSON[audio.Timeline](ctx, store, ref)
	if errors.Is(err, objectstore.ErrNotFound) {
		return turns, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}
	for _, span := range timeline.Turns {
		if span.Turn >= 0 && span.Turn < len(turns) {
			turns[span.Turn].Start, turns[span.Turn].End = span.Start, span.End
		}
	}
	return turns, nil
}
