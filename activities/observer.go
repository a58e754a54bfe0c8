package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Observer is told what activities do, so that it can be measured. Its methods are
// safe for concurrent use and return at once. What it is told holds no text of a
// dataset; which dialogue it was is not told either.
type Observer interface {
	// Call is told that an activity's step calls an engine: speaks, recognises, or
	// asks a detector. The call is made under the returned context, and end is told
	// its error.
	Call(ctx context.Context, step, engine string) (under context.Context, end func(error))
	// Used is told what one step took, or found in the store, and at which prices.
	Used(engine string, u evaluation.Usage, prices evaluation.Prices)
	// Tokens is told what a detector read and wrote, as its server counts them.
	Tokens(detector string, read, written int)
	// Composed is told of a clip that was made, and how long that took.
	Composed(clipSeconds float64, took time.Duration)
	// Voted is told of a pass that was made.
	Voted(detector string, v vote.Vote)
	// Recorded is told of a dialogue's end.
	Recorded(r evaluation.Record)
}

// observer returns who is told, who may be nobody.
func (l *Library) observer() Observer {
	if l.Observer == nil {
		return nobody{}
	}
	return l.Observer
}

// step is the running activity's name.
func step(ctx context.Context) string { return activity.GetInfo(ctx).ActivityType.Name }

type nobody struct{}

func (nobody) Call(ctx context.Context, _, _ string) (context.Context, func(error)) {
	return ctx, func(error) {}
}
func (nobody) Used(string, evaluation.Usage, evaluation.Prices) {}
func (nobody) Tokens(string, int, int)                          {}
func (nobody) Composed(float64, time.Duration)                  {}
func (nobody) Voted(string, vote.Vote)                          {}
func (nobody) Recorded(evaluation.Record)                       {}
