package archive

import (
	"context"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Source is what judging an evaluation's clips again starts from.
type Source struct {
	Manifest evaluation.Manifest
	Items    []evaluation.Item
	Records  []evaluation.Record
	Shown    []evaluation.Exemplar // with the clips that were shown
}

// Source reads what is stored of an evaluation; an unknown one is ErrNotFound.
func (a Archive) Source(ctx context.Context, id string) (Source, error) {
	m, _, err := a.Manifest(ctx, id)
	if err != nil {
		return Source{}, err
	}
	s := Source{Manifest: m, Shown: m.Shown}
	if s.Items, err = a.Items(ctx, m); err != nil {
		return s, err
	}
	if s.Records, err = a.Records(ctx, m); err != nil {
		return s, err
	}
	engines, _, err := a.Engines(ctx, id)
	if err != nil {
		return s, err
	}
	if !engines.Exemplars.IsZero() {
		if s.Shown, err = objectstore.GetJSON[[]evaluation.Exemplar](ctx, a.Store, engines.Exemplars); err != nil {
			return s, fmt.Errorf("read the exemplars: %w", err)
		}
	}
	return s, nil
}
