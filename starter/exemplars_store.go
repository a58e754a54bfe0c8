package main

import (
	"context"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// putShown stores the exemplars' clips and returns how the manifest names the
// exemplars; lines are their dialogues' places in the stored dataset.
func putShown(ctx context.Context, store objectstore.Store, shown []shownExemplar, lines []evaluation.Slice) ([]evaluation.Exemplar, error) {
	var all []evaluation.Exemplar
	for i, e := range shown {
		out := evaluation.Exemplar{Item: evaluation.Item{ID: e.ID, Line: lines[i]}, Exemplar: e.Exemplar}
		if e.clip != "" {
			var err error
			if out.Item.Clip, err = putClip(ctx, store, e.clip); err != nil {
				return nil, err
			}
		}
		all = append(all, out)
	}
	return all, nil
}
