package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// toTemporal turns an error into what Temporal needs to know of it: its type,
// whether to retry, and when. It is the only place that does. A fault that waits is
// benign: Attempts doesn't count it. One that pauses carries its reason, for the
// workflow to wait until a person has acted.
func toTemporal(err error) error {
	if err == nil {
		return nil
	}
	// Cancellation must reach the server as itself.
	if errors.Is(err, context.Canceled) {
		return err
	}
	var claimed *objectstore.ClaimedError
	if errors.As(err, &claimed) {
		return temporal.NewApplicationErrorWithOptions(err.Error(), "claimed", temporal.ApplicationErrorOptions{
			NextRetryDelay: claimedDelay,
			Category:       temporal.ApplicationErrorCategoryBenign,
		})
	}
	options := temporal.ApplicationErrorOptions{}
	code := "internal"
	var f *fault.Error
	if errors.As(err, &f) {
		if f.Code != "" {
			code = f.Code
		}
		options.NextRetryDelay = f.RetryAfter
		switch f.Kind {
		case fault.Permanent:
			options.NonRetryable = true
		case fault.Wait:
			options.Category = temporal.ApplicationErrorCategoryBenign
		case fault.Pause:
			options.NonRetryable = true
			options.Details = []any{evaluation.Reason{Code: code, Message: err.Error()}}
		}
	}
	return temporal.NewApplicationErrorWithOptions(err.Error(), code, options)
}

// badInput is the permanent fault of an input that can't be worked on.
func badInput(op string, err error) error {
	return &fault.Error{Kind: fault.Permanent, Op: op, Code: "bad_input", Err: err}
}
