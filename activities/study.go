package activities

import (
	"context"

	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/study"
)

// Studies writes down what annotators give back.
type Studies struct {
	Library *Library
}

// SaveBatch stores an assignment that has ended. Repeated, it stores the same again.
func (s *Studies) SaveBatch(ctx context.Context, batch study.Batch) (objectstore.Ref, error) {
	ref, err := objectstore.PutJSON(ctx, s.Library.Archive.Store, study.BatchKey(batch.Study, batch.Assignment), batch, objectstore.PutOptions{})
	return ref, toTemporal(err)
}

// SaveState stores what a study has ended with.
func (s *Studies) SaveState(ctx context.Context, state study.State) (objectstore.Ref, error) {
	ref, err := objectstore.PutJSON(ctx, s.Library.Archive.Store, study.StateKey(state.ID), state, objectstore.PutOptions{})
	return ref, toTemporal(err)
}
