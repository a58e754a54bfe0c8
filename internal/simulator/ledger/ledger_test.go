package ledger

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTotal(t *testing.T) {
	var l Ledger
	l.Begin("a")(10, Destroyed)
	l.Begin("a")(10, Delivered)
	l.Begin("a")(10, Delivered) // a repeat
	l.Begin("b")(0, Destroyed)  // refused: nothing to pay
	first, second := l.Begin("c"), l.Begin("c")
	first(5, Abandoned)
	second(5, Delivered)
	l.Begin("c")(5, Delivered) // a repeat
	defer l.Begin("d")(1, Delivered)

	want := Total{Calls: 6, Requests: 2, Cost: 45, Wasted: 30, Repeats: 2, Overlaps: 1, Destroyed: 1, Abandoned: 1, InFlight: 1, Peak: 2}
	if diff := cmp.Diff(want, l.Total()); diff != "" {
		t.Error(diff)
	}
	if got := l.Entries()[3]; got != (Entry{Key: "c", Cost: 5, Outcome: Abandoned}) {
		t.Errorf("the first of two at once is %+v", got)
	}
	if got := l.Entries()[4]; got != (Entry{Key: "c", Cost: 5, Outcome: Delivered, Overlap: true}) {
		t.Errorf("the second of two at once is %+v", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	var l Ledger
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() { l.Begin("a")(1, Delivered); l.Total() })
	}
	wait.Wait()
	got := l.Total()
	if got.Calls != 50 || got.InFlight != 0 || got.Wasted != 49 || got.Repeats+got.Overlaps < 49 {
		t.Errorf("50 calls of one request: %+v", got)
	}
}
