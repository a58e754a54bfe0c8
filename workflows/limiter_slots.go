package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

const (
	// congestion is how long refusals count as one: until all workers have been
	// answered with less, and their calls above it have ended.
	congestion = 20 * time.Second
	// rise is how long it takes for one more slot after a congestion.
	rise = time.Minute
)

// LimiterState is all that a limiter knows; it is carried over continue-as-new.
type LimiterState struct {
	Leases map[string]LimiterLease `json:"leases,omitempty"` // by worker
	Told   int                     `json:"told,omitempty"`   // the ceiling, as the provider told it last; 0 is not yet
	Cut    int                     `json:"cut,omitempty"`    // the ceiling since the last congestion; 0 is none
	CutAt  time.Time               `json:"cut_at,omitzero"`  // the last congestion
	RoseAt time.Time               `json:"rose_at,omitzero"` // when Cut was last changed
}

// LimiterLease is what one worker holds.
type LimiterLease struct {
	Seq      int       `json:"seq"`
	Want     int       `json:"want"`
	Bound    int       `json:"bound,omitempty"`
	Reserved int       `json:"reserved"` // slots that nobody else may have
	Until    time.Time `json:"until"`
}

// check refuses an ask that makes no sense, or that comes after a later one.
func (s *LimiterState) check(ask evaluation.Lease) error {
	if err := ask.Check(); err != nil {
		return err
	}
	if last, ok := s.Leases[ask.Worker]; ok && ask.Seq <= last.Seq {
		return fmt.Errorf("lease slots: ask %d of worker %q comes after its ask %d", ask.Seq, ask.Worker, last.Seq)
	}
	return nil
}

// lease answers an ask. A worker that gets less than it had may have the calls in
// flight that it said, so they stay reserved until it asks again.
func (s *LimiterState) lease(now time.Time, ask evaluation.Lease) evaluation.Slots {
	s.expire(now)
	held := LimiterLease{Seq: ask.Seq, Want: ask.Want, Bound: ask.Bound, Reserved: ask.Held, Until: now.Add(ask.Expiry)}
	s.Leases[ask.Worker] = held
	s.recover(now)
	before := s.ceiling()
	if ask.Told > 0 {
		s.Told = ask.Told
	}
	if ask.Congested {
		s.halve(now, before)
	}
	ceiling := s.ceiling()
	slots := max(0, min(s.share(ask.Worker, ceiling), ceiling-s.reservedByOthers(ask.Worker)))
	held.Reserved = max(slots, ask.Held)
	if held.Want == 0 && held.Reserved == 0 {
		delete(s.Leases, ask.Worker)
	} else {
		s.Leases[ask.Worker] = held
	}
	return evaluation.Slots{Slots: slots, Ceiling: ceiling}
}

// expire takes back what has run out.
func (s *LimiterState) expire(now time.Time) {
	for _, worker := range workflow.DeterministicKeys(s.Leases) {
		if !s.Leases[worker].Until.After(now) {
			delete(s.Leases, worker)
		}
	}
}

// limit is the ceiling without congestion: the lowest that a worker is configured
// with, and what the provider told.
func (s *LimiterState) limit() int {
	limit := s.Told
	for _, worker := range workflow.DeterministicKeys(s.Leases) {
		if bound := s.Leases[worker].Bound; bound > 0 && (limit == 0 || bound < limit) {
			limit = bound
		}
	}
	if limit == 0 {
		return evaluation.UntoldSlots
	}
	return limit
}

// ceiling is how many calls all workers together may have in flight now.
func (s *LimiterState) ceiling() int {
	if s.Cut > 0 {
		return min(s.Cut, s.limit())
	}
	return s.limit()
}

// halve lowers the ceiling from what it was before, once a congestion. What the
// provider has told meanwhile may be less than half, or reason enough.
func (s *LimiterState) halve(now time.Time, before int) {
	if !s.CutAt.IsZero() && now.Sub(s.CutAt) < congestion {
		return
	}
	s.CutAt = now
	if s.ceiling() >= before {
		s.Cut, s.RoseAt = max(1, before/2), now
	}
}

// recover raises a lowered ceiling by one for each rise that has passed.
func (s *LimiterState) recover(now time.Time) {
	if s.Cut == 0 {
		return
	}
	rises := int(now.Sub(s.RoseAt) / rise)
	s.Cut += rises
	s.RoseAt = s.RoseAt.Add(time.Duration(rises) * rise)
	if s.Cut >= s.limit() {
		s.Cut = 0
	}
}

// share is a worker's fair part of the ceiling: as much as any other's, but for
// what others don't want. The order of their names decides over the remainder.
func (s *LimiterState) share(worker string, ceiling int) int {
	workers := workflow.DeterministicKeys(s.Leases)
	shares := map[string]int{}
	for given := true; given && ceiling > 0; {
		given = false
		for _, w := range workers {
			if ceiling > 0 && shares[w] < s.Leases[w].Want {
				shares[w]++
				ceiling--
				given = true
			}
		}
	}
	return shares[worker]
}

func (s *LimiterState) reservedByOthers(worker string) int {
	reserved := 0
	for _, w := range workflow.DeterministicKeys(s.Leases) {
		if w != worker {
			reserved += s.Leases[w].Reserved
		}
	}
	return reserved
}

func (s *LimiterState) status() evaluation.LimiterStatus {
	status := evaluation.LimiterStatus{Ceiling: s.ceiling(), Told: s.Told, Slots: map[string]int{}}
	for _, worker := range workflow.DeterministicKeys(s.Leases) {
		status.Slots[worker] = s.Leases[worker].Reserved
	}
	return status
}
