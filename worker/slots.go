package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
)

// slotWait is how long a call waits for its slot. Its activity has a deadline, and
// the call needs what is left of it.
const slotWait = 15 * time.Second

// leasedSlots are a worker's slots for calls with a provider account, as far as
// the account's limiter has lent them. It stands in two places: as the worker's
// SlotSupplier it takes no task without a slot, and before each call it counts
// again (begin), because a task may come long after its slot was reserved, when
// the lease has shrunk or run out.
type leasedSlots struct {
	want   int           // the most that this worker can use
	bound  int           // the configured ceiling of the account; 0 is none
	expiry time.Duration // of a lease
	nudge  chan struct{} // the limiter should hear something before the next renewal

	mu       sync.Mutex
	changed  chan struct{} // closed when something was freed or lent
	slots    int           // lent
	room     int           // how many calls the provider took before it refused one
	until    time.Time     // when the lease runs out
	reserved int           // by tasks, and by polls for them
	calls    int           // in flight
	seq      int           // of the last ask
	ceiling  int           // as the provider told it last
	told     int           // the ceiling that the limiter knows
	refusals int           // for too many calls at once
	reported int           // refusals that the limiter knows
}

var _ worker.SlotSupplier = (*leasedSlots)(nil)

func newLeasedSlots(want, bound int, expiry time.Duration) *leasedSlots {
	return &leasedSlots{want: want, bound: bound, expiry: expiry, nudge: make(chan struct{}, 1), changed: make(chan struct{})}
}

// ReserveSlot waits for a slot to poll with.
func (s *leasedSlots) ReserveSlot(ctx context.Context, _ worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	if err := s.wait(ctx, s.reserve); err != nil {
		return nil, err
	}
	return &worker.SlotPermit{}, nil
}

// TryReserveSlot returns nil where no slot is free.
func (s *leasedSlots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reserve() {
		return nil
	}
	return &worker.SlotPermit{}
}

// MarkSlotUsed does nothing: a polling slot counts as much as a working one.
func (s *leasedSlots) MarkSlotUsed(worker.SlotMarkUsedInfo) {}

// ReleaseSlot frees a slot.
func (s *leasedSlots) ReleaseSlot(worker.SlotReleaseInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved--
	s.wake()
}

// MaxSlots returns the most slots that there can be.
func (s *leasedSlots) MaxSlots() int { return s.want }

// begin waits until a call may be made, and returns what ends it. The call may
// take evaluation.LeasedCall(s.expiry). Where no slot comes free it is a Wait
// fault.
func (s *leasedSlots) begin(ctx context.Context) (end func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, slotWait)
	defer cancel()
	err = s.wait(waiting, s.start)
	switch {
	case err == nil:
		return s.end, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("wait for a slot of the account: %w", ctx.Err())
	}
	return nil, &fault.Error{
		Kind: fault.Wait, Op: "wait for a slot of the account", Code: "no_slot", RetryAfter: s.expiry / 3,
		Err:  fmt.Errorf("none within %s", slotWait),
		Hint: "does a worker with role workflows run? It runs the account's limiter",
	}
}

func (s *leasedSlots) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls--
	s.wake()
}

// usable is how many of the slots lent are worth trying. The caller holds s.mu.
func (s *leasedSlots) usable() int { return min(s.slots, s.room) }

// reserve and start take a slot if they may. The caller holds s.mu.
func (s *leasedSlots) reserve() bool {
	if s.reserved >= s.usable() || !time.Now().Before(s.until) {
		return false
	}
	s.reserved++
	return true
}

func (s *leasedSlots) start() bool {
	if s.calls >= s.usable() || time.Until(s.until) < evaluation.LeasedCall(s.expiry) {
		return false
	}
	s.calls++
	return true
}

// wait returns when take has succeeded, or with the error of ctx.
func (s *leasedSlots) wait(ctx context.Context, take func() bool) error {
	for {
		s.mu.Lock()
		taken, changed := ctx.Err() == nil && take(), s.changed
		s.mu.Unlock()
		if taken {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wake lets everybody who waits look again. The caller holds s.mu.
func (s *leasedSlots) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// observe notes what a call, before its end, has shown: the ceiling that the
// provider tells, 0 for none, and whether it refused the call for too many at once.
// What the limiter doesn't know it should hear soon; until it has answered, this
// worker makes no more calls at once than the provider has just taken.
func (s *leasedSlots) observe(ceiling int, refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ceiling > 0 {
		s.ceiling = ceiling
		s.room = min(s.room, ceiling)
	}
	if refused {
		s.refusals++
		s.room = min(s.room, max(1, s.calls-1))
	}
	if refused || s.ceiling != s.told {
		select {
		case s.nudge <- struct{}{}:
		default: // it is on its way
		}
	}
}

// ask returns the next ask of the limiter. Until it is answered, no more calls are
// in flight than it says.
func (s *leasedSlots) ask(name string) (ask evaluation.Lease, refusals int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.nudge: // this ask says it
	default:
	}
	s.seq++
	held := s.calls
	if time.Now().Before(s.until) {
		held = max(held, s.usable())
	}
	return evaluation.Lease{
		Worker: name, Seq: s.seq, Want: s.want, Held: held, Expiry: s.expiry,
		Bound: s.bound, Told: s.ceiling, Congested: s.refusals > s.reported,
	}, s.refusals
}

// answered takes what an ask was answered with. The lease counts from asked, which
// is before the limiter's own count begins, so that it never ends later here.
func (s *leasedSlots) answered(ask evaluation.Lease, refusals int, asked time.Time, got evaluation.Slots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots, s.until = got.Slots, asked.Add(ask.Expiry)
	if !ask.Congested {
		s.room = got.Slots
	}
	s.told, s.reported = ask.Told, refusals
	s.wake()
}

// giveBack takes all slots from the worker and returns the ask that says so.
func (s *leasedSlots) giveBack(name string) evaluation.Lease {
	s.mu.Lock()
	s.slots = 0
	s.mu.Unlock()
	ask, _ := s.ask(name)
	ask.Want = 0
	return ask
}
