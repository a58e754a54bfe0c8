package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
)

// paid is a synthesizer whose calls count against an account.
type paid interface {
	speech.Synthesizer
	speech.Accountant
}

// limited makes each call under a leased slot, and tells the limiter what the
// provider says of its ceiling.
type limited struct {
	paid
	slots *leasedSlots
}

// Synthesize renders one turn once there is a slot for it. A call that outlives
// its lease's shortest rest is cut off, as its slot may be another worker's then.
func (l *limited) Synthesize(ctx context.Context, req speech.Request) (speech.Speech, error) {
	end, err := l.slots.begin(ctx)
	if err != nil {
		return speech.Speech{}, err
	}
	defer end()
	longest := evaluation.LeasedCall(l.slots.expiry)
	bounded, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	spoken, err := l.paid.Synthesize(bounded, req)
	var f *fault.Error
	l.slots.observe(spoken.Ceiling, errors.As(err, &f) && f.Code == speech.CodeConcurrency)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return spoken, &fault.Error{
			Kind: fault.Transient, Op: "speak", Code: "timeout", Err: fmt.Errorf("no whole reply within %s", longest),
			Hint: "a longer --speech-lease gives calls more time",
		}
	}
	return spoken, err
}
