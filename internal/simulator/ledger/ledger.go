// Package ledger keeps account of what the calls of a simulated provider would
// have cost, and of the ones that should not have been made.
package ledger

import "sync"

// Outcome says what became of a call that was paid.
type Outcome string

// The outcomes.
const (
	Delivered Outcome = "delivered" // the whole reply was written
	Destroyed Outcome = "destroyed" // by a planned fault
	Abandoned Outcome = "abandoned" // the client was gone before the reply
)

// Entry is one paid call.
type Entry struct {
	Key     string // the same for the same request
	Cost    int    // in the provider's unit
	Outcome Outcome
	Repeat  bool // an earlier call of the key was delivered before this one began
	Overlap bool // another call of the key was in flight when this one began
}

// Total sums up a ledger.
type Total struct {
	Calls     int
	Requests  int // distinct keys
	Cost      int // of all calls
	Wasted    int // the cost of all but each request's first delivered call
	Repeats   int // paid again although a whole reply had been written
	Overlaps  int // paid twice at once
	Destroyed int
	Abandoned int
	InFlight  int // now
	Peak      int // most calls in flight at once
}

// Ledger is safe for concurrent use. The zero value is empty.
type Ledger struct {
	mu        sync.Mutex
	entries   []Entry
	inFlight  map[string]int
	delivered map[string]bool
	running   int
	peak      int
}

// Begin notes that a call is being worked on, for nothing so far. It returns the
// function that ends it, with its cost and its outcome; a call that costs nothing
// leaves no entry. That function must be called exactly once.
func (l *Ledger) Begin(key string) (end func(cost int, outcome Outcome)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight == nil {
		l.inFlight, l.delivered = map[string]int{}, map[string]bool{}
	}
	entry := Entry{Key: key, Repeat: l.delivered[key], Overlap: l.inFlight[key] > 0}
	l.inFlight[key]++
	l.running++
	l.peak = max(l.peak, l.running)
	return func(cost int, outcome Outcome) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running--
		if l.inFlight[key]--; l.inFlight[key] == 0 {
			delete(l.inFlight, key)
		}
		if cost == 0 {
			return
		}
		entry.Cost, entry.Outcome = cost, outcome
		l.entries = append(l.entries, entry)
		if outcome == Delivered {
			l.delivered[key] = true
		}
	}
}

// Entries returns the paid calls in the order in which they ended.
func (l *Ledger) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry(nil), l.entries...)
}

// Total sums up the calls so far.
func (l *Ledger) Total() Total {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := Total{Calls: len(l.entries), InFlight: l.running, Peak: l.peak}
	useful := map[string]bool{} // by key: a delivered call was seen; false: only others were
	for _, e := range l.entries {
		t.Cost += e.Cost
		if e.Outcome != Delivered || useful[e.Key] {
			t.Wasted += e.Cost
		}
		useful[e.Key] = useful[e.Key] || e.Outcome == Delivered
		if e.Repeat {
			t.Repeats++
		}
		if e.Overlap {
			t.Overlaps++
		}
		switch e.Outcome {
		case Destroyed:
			t.Destroyed++
		case Abandoned:
			t.Abandoned++
		}
	}
	t.Requests = len(useful)
	return t
}
