package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/study"
)

// PutStudy stores a study's beginning. It returns ErrUsed when the id has one already.
func (a Archive) PutStudy(ctx context.Context, s study.Study) error {
	_, err := objectstore.PutJSON(ctx, a.Store, study.Key(s.ID), s, objectstore.PutOptions{IfAbsent: true})
	if errors.Is(err, objectstore.ErrExists) {
		return fmt.Errorf("study %q: %w", s.ID, ErrUsed)
	}
	return err
}

// Study reads a study's beginning; an unknown one is objectstore.ErrNotFound.
func (a Archive) Study(ctx context.Context, id string) (study.Study, error) {
	return objectstore.GetJSON[study.Study](ctx, a.Store, objectstore.Ref{Key: study.Key(id)})
}

// Batches reads all that annotators of a study have given back, in the order of their
// keys.
func (a Archive) Batches(ctx context.Context, id string) ([]study.Batch, error) {
	var all []study.Batch
	for entry, err := range a.Store.List(ctx, study.AllBatchesPrefix(id)) {
		if err != nil {
			return nil, err
		}
		batch, err := objectstore.GetJSON[study.Batch](ctx, a.Store, objectstore.Ref{Key: entry.Key})
		if err != nil {
			return nil, err
		}
		all = append(all, batch)
	}
	return all, nil
}

// DeleteBatches deletes all that one annotator of a study has given back.
func (a Archive) DeleteBatches(ctx context.Context, id, annotator string) error {
	for entry, err := range a.Store.List(ctx, study.BatchesPrefix(id, annotator)) {
		if err != nil {
			return err
		}
		if err := a.Store.Delete(ctx, entry.Key); err != nil {
			return err
		}
	}
	return nil
}

// StudyState reads what a study has ended with; objectstore.ErrNotFound while it goes on.
func (a Archive) StudyState(ctx context.Context, id string) (study.State, error) {
	return objectstore.GetJSON[study.State](ctx, a.Store, objectstore.Ref{Key: study.StateKey(id)})
}

// ForgetInState takes an annotator out of what a study has ended with, where it has.
func (a Archive) ForgetInState(ctx context.Context, id string, remove study.Remove) error {
	state, err := a.StudyState(ctx, id)
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := state.Remove(remove); err != nil {
		return err
	}
	_, err = objectstore.PutJSON(ctx, a.Store, study.StateKey(id), state, objectstore.PutOptions{})
	return err
}
