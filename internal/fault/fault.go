// Package fault classifies an error at the edge of the pipeline by what has to
// happen next: give up, try again, wait, or pause until a person acts.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what has to happen next.
type Kind string

// The kinds. An error without one counts as Transient.
const (
	Transient Kind = "transient" // try again with backoff
	Wait      Kind = "wait"      // try again, not before RetryAfter; costs no attempt
	Permanent Kind = "permanent" // the same call can't succeed
	Pause     Kind = "pause"     // no call can succeed until a person acts
)

// Error is an operation that failed, why, and what a person can do about it.
type Error struct {
	Kind       Kind
	Op         string        // what was tried, e.g. "synthesise turn 3 with flite"
	Code       string        // a short machine-readable cause, e.g. "voice_not_found"
	Hint       string        // what to do, for a person; may be empty
	RetryAfter time.Duration // for Wait: the shortest sensible delay
	Err        error
}

// Error returns "op: cause (hint)".
func (e *Error) Error() string {
	text := e.Op
	if e.Err != nil {
		text = fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost fault in err's chain, Transient when
// there is none.
func KindOf(err error) Kind {
	var f *Error
	if errors.As(err, &f) && f.Kind != "" {
		return f.Kind
	}
	return Transient
}

// Permanentf builds a Permanent fault from an operation, a code and a cause.
func Permanentf(op, code, format string, args ...any) error {
	return &Error{Kind: Permanent, Op: op, Code: code, Err: fmt.Errorf(format, args...)}
}
