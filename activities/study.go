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
