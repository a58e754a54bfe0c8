package detect

import (
	"context"
	"sync/atomic"
)

// Meter counts the requests that a detector sends: an answer may take several, and
// each of them is paid.
type Meter struct{ requests atomic.Int64 }

// Requests returns how many were counted.
func (m *Meter) Requests() int { return int(m.requests.Load()) }

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
