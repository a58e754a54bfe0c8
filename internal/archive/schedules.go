package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// ErrScheduleUsed says that a schedule with that id is stored.
var ErrScheduleUsed = errors.New("schedule id is used")

// PutSchedule stores a schedule. It returns ErrScheduleUsed when another one has the id.
func (a Archive) PutSchedule(ctx context.Context, s evaluation.Schedule) (objectstore.Ref, error) {
	ref, err := objectstore.PutJSON(ctx, a.Store, evaluation.ScheduleKey(s.ID), s, objectstore.PutOptions{IfAbsent: true})
	if errors.Is(err, objectstore.ErrExists) {
		return ref, fmt.Errorf("%q: %w", s.ID, ErrScheduleUsed)
	}
	return ref, err
}

// Schedule reads a schedule.
func (a Archive) Schedule(ctx context.Context, id string) (evaluation.Schedule, error) {
	return objectstore.GetJSON[evaluation.Schedule](ctx, a.Store, objectstore.Ref{Key: evaluation.ScheduleKey(id)})
}

// PutFiring stores that a firing has begun; the same one again is no error.
func (a Archive) PutFiring(ctx context.Context, f evaluation.Firing) error {
	_, err := objectstore.PutJSON(ctx, a.Store, evaluation.FiringKey(f.Schedule, f.Evaluation), f, objectstore.PutOptions{IfAbsent: true})
	return err
}

// Firings reads the firings of a schedule that have begun, in the order in which they
// were due.
func (a Archive) Firings(ctx context.Context, schedule string) ([]evaluation.Firing, error) {
	firings, err := readAll[evaluation.Firing](ctx, a, evaluation.FiringsPrefix(schedule))
	slices.SortStableFunc(firings, func(x, y evaluation.Firing) int {
		return cmp.Or(x.Due.Compare(y.Due), cmp.Compare(x.Evaluation, y.Evaluation))
	})
	return firings, err
}

// Outcomes reads a schedule's outcomes, look by look.
func (a Archive) Outcomes(ctx context.Context, schedule string) ([]evaluation.Outcome, error) {
	return readAll[evaluation.Outcome](ctx, a, evaluation.LooksPrefix(schedule))
}

// PutOutcome stores a look's outcome: under its number, which no other look has then,
// and beside its evaluation. It returns false where another evaluation was the look.
func (a Archive) PutOutcome(ctx context.Context, o evaluation.Outcome) (bool, error) {
	_, err := objectstore.PutJSON(ctx, a.Store, evaluation.LookKey(o.Schedule, o.Look), o, objectstore.PutOptions{IfAbsent: true})
	if errors.Is(err, objectstore.ErrExists) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, a.PutOutcomeBeside(ctx, o)
}

// PutOutcomeBeside stores an outcome beside its evaluation alone.
func (a Archive) PutOutcomeBeside(ctx context.Context, o evaluation.Outcome) error {
	_, err := objectstore.PutJSON(ctx, a.Store, evaluation.OutcomeKey(o.Evaluation), o, objectstore.PutOptions{})
	return err
}

// outcome reads the outcome beside an evaluation; nil where there is none.
func (a Archive) outcome(ctx context.Context, id string) (*evaluation.Outcome, error) {
	o, err := objectstore.GetJSON[evaluation.Outcome](ctx, a.Store, objectstore.Ref{Key: evaluation.OutcomeKey(id)})
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the schedule found: %w", err)
	}
	return &o, nil
}

func readAll[T any](ctx context.Context, a Archive, prefix string) ([]T, error) {
	var out []T
	for entry, err := range a.Store.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		value, err := objectstore.GetJSON[T](ctx, a.Store, objectstore.Ref{Key: entry.Key})
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, nil
}
