package detect

import (
	"context"
	"sync/atomic"
)

// Meter counts the requests that a detector sends, and the tokens in them: an answer
// may take several, and each of them is paid.
type Meter struct{ requests, read, written atomic.Int64 }

// Requests returns how many were counted.
func (m *Meter) Requests() int { return int(m.requests.Load()) }

// Read returns how many tokens of prompts were counted; 0 where no server counts them.
func (m *Meter) Read() int { return int(m.read.Load()) }

// Written returns how many tokens of replies were counted.
func (m *Meter) Written() int { return int(m.written.Load()) }

type meterKey struct{}

// WithMeter returns a context under which m counts.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// CountRequest counts one request. A detector that asks a server calls it for
// each.
func CountRequest(ctx context.Context) {
	if m, ok := ctx.Value(meterKey{}).(*Meter); ok {
		m.requests.Add(1)
	}
}

// CountTokens counts what one request's prompt and reply had, as the server says.
func CountTokens(ctx context.Context, read, written int) {
	if m, ok := ctx.Value(meterKey{}).(*Meter); ok {
		m.read.Add(int64(max(read, 0)))
		m.written.Add(int64(max(written, 0)))
	}
}
