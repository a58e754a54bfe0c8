package activities

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

func TestToTemporal(t *testing.T) {
	cause := errors.New("no route to host")
	claimed := &objectstore.ClaimedError{Key: "k", Owner: "other", Expires: noon}
	for _, test := range []struct {
		name    string
		err     error
		code    string
		retried bool
		delay   time.Duration
		benign  bool
	}{
		{"no fault", cause, "internal", true, 0, false},
		{"out of time", context.DeadlineExceeded, "internal", true, 0, false},
		{"transient", &fault.Error{Kind: fault.Transient, Op: "speak", Code: "unreachable", Err: cause}, "unreachable", true, 0, false},
		{"without a kind", &fault.Error{Op: "speak", Code: "unreachable", Err: cause}, "unreachable", true, 0, false},
		{"without a code", &fault.Error{Kind: fault.Transient, Op: "speak", Err: cause}, "internal", true, 0, false},
		{"wait", &fault.Error{Kind: fault.Wait, Op: "speak", Code: "rate_limited", RetryAfter: 7 * time.Second, Err: cause}, "rate_limited", true, 7 * time.Second, true},
		{"pause", &fault.Error{Kind: fault.Pause, Op: "speak", Code: "quota_exceeded", Err: cause}, "quota_exceeded", false, 0, false},
		{"permanent", fault.Permanentf("speak", "voice_not_found", "no voice v9"), "voice_not_found", false, 0, false},
		{"wrapped", fmt.Errorf("turn 3: %w", fault.Permanentf("speak", "voice_not_found", "no voice v9")), "voice_not_found", false, 0, false},
		{"bad input", badInput("plan", cause), "bad_input", false, 0, false},
		{"missing object", objectstore.NotFound("k"), "object_not_found", false, 0, false},
		{"corrupt object", objectstore.Corrupt("k", "a", "b"), "object_corrupt", false, 0, false},
		{"claimed by another", fmt.Errorf("turn 3: %w", claimed), "claimed", true, claimedDelay, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got *temporal.ApplicationError
			if !errors.As(toTemporal(test.err), &got) {
				t.Fatalf("%v is no application error", toTemporal(test.err))
			}
			if got.Type() != test.code || got.NonRetryable() == test.retried || got.NextRetryDelay() != test.delay {
				t.Errorf("type %q, retried %v, delay %s; want %q, %v, %s", got.Type(), !got.NonRetryable(), got.NextRetryDelay(), test.code, test.retried, test.delay)
			}
			if benign := got.Category() == temporal.ApplicationErrorCategoryBenign; benign != test.benign {
				t.Errorf("benign %v, want %v", benign, test.benign)
			}
			if got.Message() != test.err.Error() {
				t.Errorf("message %q, want %q", got.Message(), test.err)
			}
		})
	}
}

// Temporal takes a cancelled activity's error for a failure unless it is
// context.Canceled itself.
func TestToTemporalKeepsCancellation(t *testing.T) {
	for _, err := range []error{nil, context.Canceled} {
		if got := toTemporal(err); got != err { //nolint:errorlint // identity is the point
			t.Errorf("%v became %v", err, got)
		}
	}
	wrapped := fmt.Errorf("speak: %w", context.Canceled)
	if got := toTemporal(wrapped); !errors.Is(got, context.Canceled) {
		t.Errorf("%v became %v", wrapped, got)
	}
}
