package workflows

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

var limiterStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// limiterTest asks a limiter as its workers would.
type limiterTest struct {
	state LimiterState
	now   time.Time
	seq   int
}

func newLimiterTest() *limiterTest {
	return &limiterTest{state: LimiterState{Leases: map[string]LimiterLease{}}, now: limiterStart}
}

// ask has a worker ask for ten slots of a ceiling of ten, but for what change says.
func (l *limiterTest) ask(t *testing.T, worker string, change func(*evaluation.Lease)) evaluation.Slots {
	t.Helper()
	l.seq++
	ask := evaluation.Lease{Worker: worker, Seq: l.seq, Want: 10, Bound: 10, Expiry: evaluation.LeaseExpiry}
	if change != nil {
		change(&ask)
	}
	if err := l.state.check(ask); err != nil {
		t.Fatal(err)
	}
	return l.state.lease(l.now, ask)
}

func (l *limiterTest) pass(d time.Duration) { l.now = l.now.Add(d) }

func held(n int) func(*evaluation.Lease) { return func(l *evaluation.Lease) { l.Held = n } }

func wantSlots(t *testing.T, got evaluation.Slots, slots, ceiling int) {
	t.Helper()
	if want := (evaluation.Slots{Slots: slots, Ceiling: ceiling}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A worker that joins gets its half once the other has given it back, no earlier.
func TestLimiterFairness(t *testing.T) {
	l := newLimiterTest()
	wantSlots(t, l.ask(t, "a", nil), 10, 10)
	wantSlots(t, l.ask(t, "b", nil), 0, 10)      // a may have ten calls in flight
	wantSlots(t, l.ask(t, "a", held(10)), 5, 10) // a is told, but has not said that they ended
	wantSlots(t, l.ask(t, "b", nil), 0, 10)
	wantSlots(t, l.ask(t, "a", held(7)), 5, 10) // two of its calls go on
	wantSlots(t, l.ask(t, "b", nil), 3, 10)
	wantSlots(t, l.ask(t, "a", held(5)), 5, 10)
	wantSlots(t, l.ask(t, "b", held(3)), 5, 10)
	// What one doesn't want, the other may have.
	wantSlots(t, l.ask(t, "a", func(l *evaluation.Lease) { l.Want, l.Held = 2, 2 }), 2, 10)
	wantSlots(t, l.ask(t, "b", held(5)), 8, 10)
	// A worker that stops gives all back.
	l.ask(t, "a", func(l *evaluation.Lease) { l.Want = 0 })
	wantSlots(t, l.ask(t, "b", held(8)), 10, 10)
}

func TestLimiterShares(t *testing.T) {
	for _, test := range []struct {
		ceiling int
		wants   []int
		want    []int
	}{
		{5, []int{10, 10}, []int{3, 2}},
		{1, []int{10, 10, 10}, []int{1, 0, 0}},
		{10, []int{1, 10, 10}, []int{1, 5, 4}},
		{10, []int{2, 3}, []int{2, 3}},
		{0, []int{2, 3}, []int{0, 0}},
		{7, []int{0, 3}, []int{0, 3}},
	} {
		s := LimiterState{Leases: map[string]LimiterLease{}}
		for i, want := range test.wants {
			s.Leases[fmt.Sprint(i)] = LimiterLease{Want: want}
		}
		for i, want := range test.want {
			if got := s.share(fmt.Sprint(i), test.ceiling); got != want {
				t.Errorf("ceiling %d, wants %v: worker %d gets %d, want %d", test.ceiling, test.wants, i, got, want)
			}
		}
	}
}

func TestLimiterExpiry(t *testing.T) {
	l := newLimiterTest()
	l.ask(t, "dead", nil)
	l.pass(evaluation.LeaseExpiry - 1)
	wantSlots(t, l.ask(t, "next", nil), 0, 10)
	l.pass(1)
	wantSlots(t, l.ask(t, "next", nil), 10, 10)
}

// A worker that was away longer than its lease finds its slots lent, and takes
// nothing from the other.
func TestLimiterLateRenewal(t *testing.T) {
	l := newLimiterTest()
	l.ask(t, "late", nil)
	l.pass(evaluation.LeaseExpiry)
	wantSlots(t, l.ask(t, "next", nil), 10, 10)
	wantSlots(t, l.ask(t, "late", nil), 0, 10)
	// Nor does one that says that it still has calls in flight.
	wantSlots(t, l.ask(t, "late", held(4)), 0, 10)
	if got := l.state.Leases["next"].Reserved; got != 10 {
		t.Errorf("%d slots are reserved for the other, want its ten", got)
	}
}

// An ask that was overtaken by a later one would take back slots that the later
// one was given.
func TestLimiterRefuses(t *testing.T) {
	l := newLimiterTest()
	l.ask(t, "a", nil)
	early := evaluation.Lease{Worker: "a", Seq: l.seq, Want: 1, Expiry: evaluation.LeaseExpiry}
	if l.state.check(early) == nil {
		t.Error("an ask is answered twice")
	}
	early.Worker = "b"
	if err := l.state.check(early); err != nil {
		t.Errorf("another worker's ask is refused: %v", err)
	}
	early.Worker, early.Seq, early.Want = "a", l.seq+1, -1
	if l.state.check(early) == nil {
		t.Error("an ask for -1 slots is accepted")
	}
}

func congested(n int) func(*evaluation.Lease) {
	return func(l *evaluation.Lease) { l.Held, l.Congested = n, true }
}

func TestLimiterHalvesAndRises(t *testing.T) {
	l := newLimiterTest()
	l.ask(t, "a", nil)
	wantSlots(t, l.ask(t, "a", congested(10)), 5, 5)
	l.pass(congestion - 1)
	wantSlots(t, l.ask(t, "a", congested(5)), 5, 5) // still the same congestion
	l.pass(1)
	wantSlots(t, l.ask(t, "a", congested(5)), 2, 2)
	l.pass(congestion)
	wantSlots(t, l.ask(t, "a", congested(2)), 1, 1)
	l.pass(congestion)
	wantSlots(t, l.ask(t, "a", congested(1)), 1, 1) // never less
	for want := 1; want <= 10; want++ {
		wantSlots(t, l.ask(t, "a", held(want)), want, want)
		l.pass(25 * time.Second)
		wantSlots(t, l.ask(t, "a", held(want)), want, want)
		l.pass(25 * time.Second)
		wantSlots(t, l.ask(t, "a", held(want)), want, want)
		l.pass(10 * time.Second)
	}
	wantSlots(t, l.ask(t, "a", held(10)), 10, 10)
	// Nobody asked for minutes: all of them count.
	l.ask(t, "a", congested(10))
	l.pass(3 * time.Minute)
	wantSlots(t, l.ask(t, "a", nil), 8, 8)
}

// A provider that refuses a call and tells how many it takes is believed; its
// number is not halved.
func TestLimiterToldWhileCongested(t *testing.T) {
	l := newLimiterTest()
	l.ask(t, "a", nil)
	told := func(l *evaluation.Lease) { l.Held, l.Congested, l.Told = 10, true, 4 }
	wantSlots(t, l.ask(t, "a", told), 4, 4)
	wantSlots(t, l.ask(t, "a", congested(4)), 4, 4) // the same congestion
	l.pass(congestion)
	wantSlots(t, l.ask(t, "a", told), 2, 2) // another account's calls, perhaps
}

func TestLimiterBounds(t *testing.T) {
	bounded := func(bound, told int) func(*evaluation.Lease) {
		return func(l *evaluation.Lease) { l.Bound, l.Told = bound, told }
	}
	for _, test := range []struct {
		name         string
		bound, told  int
		want         int
		then, wanted int // told next
	}{
		{"configuration", 4, 0, 4, 0, 4},
		{"provider", 0, 5, 5, 0, 5},
		{"neither", 0, 0, evaluation.UntoldSlots, 3, 3},
		{"provider says less", 8, 5, 5, 6, 6},
		{"provider says more", 3, 15, 3, 2, 2},
	} {
		l := newLimiterTest()
		if got := l.ask(t, "a", bounded(test.bound, test.told)).Ceiling; got != test.want {
			t.Errorf("%s: ceiling %d, want %d", test.name, got, test.want)
		}
		if got := l.ask(t, "a", bounded(test.bound, test.then)).Ceiling; got != test.wanted {
			t.Errorf("%s: told %d, ceiling %d, want %d", test.name, test.then, got, test.wanted)
		}
	}
	// The lowest configuration counts, while its worker lives; a congestion is
	// halved from there and rises no higher.
	l := newLimiterTest()
	wantSlots(t, l.ask(t, "a", bounded(9, 0)), 9, 9)
	l.ask(t, "b", func(l *evaluation.Lease) { l.Bound, l.Want = 4, 0 })
	l.ask(t, "b", func(l *evaluation.Lease) { l.Bound, l.Want = 4, 1 })
	if got := l.state.ceiling(); got != 4 {
		t.Errorf("ceiling %d, want 4", got)
	}
	if got := l.ask(t, "a", congested(9)).Ceiling; got != 2 {
		t.Errorf("after a congestion the ceiling is %d, want 2", got)
	}
	l.pass(30 * time.Minute)
	if got := l.ask(t, "a", bounded(9, 6)).Ceiling; got != 6 {
		t.Errorf("half an hour later the ceiling is %d, want 6", got)
	}
}

// simWorker keeps to the protocol: it begins a call only under a lease that lasts
// longer, and it says what it may have in flight.
type simWorker struct {
	name   string
	limit  int
	until  time.Time
	calls  []time.Time // the latest end of each call in flight
	answer *evaluation.Slots
	asked  time.Time
}

const simCall = evaluation.LeaseExpiry * 3 / 5

func (w *simWorker) step(t *testing.T, l *limiterTest, random *rand.Rand, ceiling int) {
	w.calls = slices.DeleteFunc(w.calls, func(end time.Time) bool { return !end.After(l.now) || random.IntN(10) == 0 })
	if w.answer != nil && random.IntN(3) > 0 { // else it comes later
		w.limit, w.until, w.answer = w.answer.Slots, w.asked.Add(evaluation.LeaseExpiry), nil
	}
	if w.answer == nil && random.IntN(4) == 0 {
		hold := len(w.calls)
		if w.until.After(l.now) {
			hold = max(hold, w.limit)
		}
		got := l.ask(t, w.name, func(a *evaluation.Lease) { a.Bound, a.Held, a.Want = ceiling, hold, 1+random.IntN(10) })
		if random.IntN(5) > 0 { // else the answer is lost
			w.answer, w.asked = &got, l.now
		}
	}
	for len(w.calls) < w.limit && !w.until.Before(l.now.Add(simCall)) && random.IntN(3) > 0 {
		w.calls = append(w.calls, l.now.Add(simCall))
	}
}

// Whatever workers do (join, are killed, are late, lose answers), there are never
// more calls in flight than the ceiling.
func TestLimiterNeverExceedsTheCeiling(t *testing.T) {
	const ceiling = 7
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		l := newLimiterTest()
		var workers []*simWorker
		var orphans []time.Time // calls of killed workers, which the provider may go on with
		most, born := 0, 0
		for range 3000 {
			l.pass(time.Duration(random.IntN(2000)) * time.Millisecond)
			for len(workers) < 3 {
				born++
				workers = append(workers, &simWorker{name: fmt.Sprint(born)})
			}
			orphans = slices.DeleteFunc(orphans, func(end time.Time) bool { return !end.After(l.now) })
			inFlight := len(orphans)
			for _, w := range workers {
				w.step(t, l, random, ceiling)
				inFlight += len(w.calls)
			}
			if inFlight > ceiling {
				t.Fatalf("seed %d: %d calls in flight", seed, inFlight)
			}
			most = max(most, inFlight)
			if random.IntN(200) == 0 {
				killed := random.IntN(len(workers))
				orphans = append(orphans, workers[killed].calls...)
				workers = slices.Delete(workers, killed, killed+1)
			}
		}
		if most < ceiling {
			t.Errorf("seed %d: never more than %d calls in flight", seed, most)
		}
	}
}
