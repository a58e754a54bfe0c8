package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

// bundleClips is the clips' folder beside the page that plays them.
const bundleClips = "clips"

// writeBundle writes the report's files below dir with the clips beside them, so
// that the page shows what was said and plays it. What is there already isn't
// fetched again. It returns the folder, and how many clips the store doesn't have
// any more.
func writeBundle(ctx context.Context, store archive.Archive, dir string, r report.Report) (folder string, gone int, err error) {
	if folder, err = writeFiles(dir, r.Evaluation, r); err != nil {
		return "", 0, err
	}
	if err = os.MkdirAll(filepath.Join(folder, bundleClips), 0o755); err != nil {
		return "", 0, fmt.Errorf("write bundle: %w", err)
	}
	texts, err := turns(ctx, store, r)
	if err != nil {
		return "", 0, err
	}
	media := report.Media{}
	for _, d := range r.Dialogues {
		one := report.DialogueMedia{Turns: slices.Clone(texts[d.ID])} // timed apart in every casting
		if one.Turns, err = timed(ctx, store.Store, one.Turns, d.Timeline); err != nil {
			return "", 0, err
		}
		if !d.Clip.IsZero() {
			one.Audio = bundleClips + "/" + evaluation.FileName(d.ID, d.CastingNumber) + path.Ext(d.Clip.Key)
			err := fetch(ctx, store.Store, d.Clip, filepath.Join(folder, filepath.FromSlash(one.Audio)))
			if errors.Is(err, objectstore.ErrNotFound) {
				one.Audio = ""
				gone++
			} else if err != nil {
				return "", 0, fmt.Errorf("clip of dialogue %q: %w", d.ID, err)
			}
		}
		media[d.Rendition()] = one
	}
	page := filepath.Join(folder, "report.html")
	if err = writeFile(page, func(w io.Writer) error { return report.HTMLWriter(media)(w, r) }); err != nil {
		return "", 0, fmt.Errorf("write bundle: %w", err)
	}
	return folder, gone, nil
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

// fetch writes an object to a file, unless one of its size is there: the last step
// of writing one is to name it, so it is whole.
func fetch(ctx context.Context, store objectstore.Store, ref objectstore.Ref, file string) error {
	if info, err := os.Stat(file); err == nil && info.Size() == ref.Size {
		return nil
	}
	body, err := store.Open(ctx, ref)
	if err != nil {
		return err
	}
	defer body.Close()
	return writeFile(file, func(w io.Writer) error {
		_, err := io.Copy(w, body)
		return err
	})
}
