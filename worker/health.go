package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A probe asks every few seconds, and several may ask: what was found is told for
// healthKept, and no check may take longer than healthTimeout.
const (
	healthKept    = 2 * time.Second
	healthTimeout = 3 * time.Second
)

// check is one thing that a worker needs in order to work.
type check struct {
	name string
	ask  func(context.Context) error
}

// health knows whether this process can work. Its zero value, with a clock, hasn't
// begun.
type health struct {
	now func() time.Time

	mu      sync.Mutex
	checks  []check
	drained bool
	asked   time.Time
	found   error
}

// works says that all workers poll, and what they need from then on.
func (h *health) works(checks []check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks = checks
}

// drains says that no new work is taken.
func (h *health) drains() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drained = true
}

// ready returns nil where the process takes work and can do it, else why not.
func (h *health) ready(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.drained:
		return errors.New("stopping: no new work")
	case h.checks == nil:
		return errors.New("starting")
	case h.now().Sub(h.asked) < healthKept:
		return h.found
	}
	// What one asker finds is told to others: it must not end with that one's patience.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTimeout)
	defer cancel()
	errs := make([]error, len(h.checks))
	var asking sync.WaitGroup
	for i, c := range h.checks {
		asking.Go(func() {
			if err := c.ask(ctx); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.name, err)
			}
		})
	}
	asking.Wait()
	h.asked, h.found = h.now(), errors.Join(errs...)
	return h.found
}
