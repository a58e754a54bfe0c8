package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
)

// fakeLessor lends what a test says, and notes what it was asked.
type fakeLessor struct {
	mu    sync.Mutex
	slots int
	err   error
	asks  []evaluation.Lease
}

func (f *fakeLessor) lend(_ context.Context, ask evaluation.Lease) (evaluation.Slots, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asks = append(f.asks, ask)
	return evaluation.Slots{Slots: f.slots, Ceiling: f.slots}, f.err
}

func (f *fakeLessor) answer(slots int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slots, f.err = slots, err
}

func (f *fakeLessor) last() evaluation.Lease {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asks[len(f.asks)-1]
}

func (f *fakeLessor) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asks)
}

const testExpiry = evaluation.LeaseExpiry

// leaseTest runs a test in simulated time with slots that are leased of a fake.
func leaseTest(t *testing.T, slots int, test func(t *testing.T, s *leasedSlots, f *fakeLessor)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, f := newLeasedSlots(8, 6, testExpiry), &fakeLessor{slots: slots}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			(&lessee{name: "w", slots: s, lend: f.lend, leased: func(int, int) {}, log: zap.NewNop()}).run(ctx)
		}()
		synctest.Wait()
		test(t, s, f)
		cancel()
		<-done
	})
}

// reservations tries to reserve n slots and returns how many were given at once.
func reservations(t *testing.T, s *leasedSlots, n int) (given *atomic.Int32) {
	t.Helper()
	given = new(atomic.Int32)
	for range n {
		go func() {
			if permit, err := s.ReserveSlot(t.Context(), nil); err == nil && permit != nil {
				given.Add(1)
			}
		}()
	}
	synctest.Wait()
	return given
}

func TestSlotsAdmitOnlyWhatIsLeased(t *testing.T) {
	leaseTest(t, 3, func(t *testing.T, s *leasedSlots, f *fakeLessor) {
		given := reservations(t, s, 5)
		if given.Load() != 3 || s.TryReserveSlot(nil) != nil {
			t.Fatalf("%d slots of 3 leased", given.Load())
		}
		s.ReleaseSlot(nil)
		if synctest.Wait(); given.Load() != 4 {
			t.Errorf("%d after one was released, want 4", given.Load())
		}
		f.answer(5, nil)
		time.Sleep(evaluation.LeaseRenewal(testExpiry))
		if synctest.Wait(); given.Load() != 5 {
			t.Errorf("%d after more were leased, want 5", given.Load())
		}
		if s.TryReserveSlot(nil) == nil || s.TryReserveSlot(nil) != nil || s.MaxSlots() != 8 {
			t.Error("the fifth slot is not free, or a sixth is")
		}
	})
}

func TestReservationEndsWithItsContext(t *testing.T) {
	leaseTest(t, 0, func(t *testing.T, s *leasedSlots, _ *fakeLessor) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if permit, err := s.ReserveSlot(ctx, nil); permit != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, %v", permit, err)
		}
	})
}

// A worker that can't reach the limiter works on under its lease, as long as a call
// can end in it, and no longer.
func TestSlotsWithoutTheLimiter(t *testing.T) {
	leaseTest(t, 2, func(t *testing.T, s *leasedSlots, f *fakeLessor) {
		f.answer(0, errors.New("away"))
		time.Sleep(testExpiry - evaluation.LeasedCall(testExpiry))
		end, err := s.begin(t.Context())
		if err != nil {
			t.Fatalf("no call under a lease that lasts: %v", err)
		}
		time.Sleep(time.Nanosecond)
		start := time.Now()
		_, err = s.begin(t.Context())
		var f2 *fault.Error
		if !errors.As(err, &f2) || f2.Kind != fault.Wait || f2.RetryAfter <= 0 || time.Since(start) != slotWait {
			t.Errorf("a call begins under a lease that it may outlive: %v after %s", err, time.Since(start))
		}
		end()
		time.Sleep(evaluation.LeasedCall(testExpiry))
		if s.TryReserveSlot(nil) != nil {
			t.Error("a slot of a lease that has run out")
		}
		if held := f.last().Held; held != 0 {
			t.Errorf("%d slots held of a lease that has run out", held)
		}
		f.answer(2, nil)
		time.Sleep(askGap)
		if end, err := s.begin(t.Context()); err != nil {
			t.Errorf("no call although the limiter is back: %v", err)
		} else {
			end()
		}
	})
}

// A lease counts from before the ask: an answer that took long is worth less.
func TestSlowAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeasedSlots(8, 0, testExpiry)
		ask, refusals := s.ask("w")
		asked := time.Now()
		time.Sleep(testExpiry)
		s.answered(ask, refusals, asked, evaluation.Slots{Slots: 8})
		if s.TryReserveSlot(nil) != nil {
			t.Error("a slot of a lease that had run out before it was answered")
		}
	})
}

// Tasks that were polled for under a larger lease wait before they call.
func TestShrunkenLease(t *testing.T) {
	leaseTest(t, 4, func(t *testing.T, s *leasedSlots, f *fakeLessor) {
		reservations(t, s, 4)
		var ends []func()
		for range 2 {
			end, err := s.begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, end)
		}
		f.answer(1, nil)
		time.Sleep(evaluation.LeaseRenewal(testExpiry))
		synctest.Wait()
		if held := f.last().Held; held != 4 {
			t.Errorf("the worker held %d, want the four it was lent", held)
		}
		began := make(chan struct{})
		go func() {
			if end, err := s.begin(t.Context()); err == nil {
				close(began)
				end()
			}
		}()
		ends[0]()
		synctest.Wait()
		select {
		case <-began:
			t.Error("two calls under a lease of one slot")
		default:
		}
		time.Sleep(evaluation.LeaseRenewal(testExpiry) - time.Second)
		ends[1]()
		<-began
	})
}

// A few asks a minute, whatever the number of calls; congestion is said at once.
func TestAsks(t *testing.T) {
	leaseTest(t, 4, func(t *testing.T, s *leasedSlots, f *fakeLessor) {
		before := f.count()
		for range 600 {
			end, err := s.begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
			end()
			s.observe(4, false)
		}
		if asks := f.count() - before; asks > 7 {
			t.Errorf("%d asks in a minute of 600 calls", asks)
		}
		ask := f.last()
		if ask.Worker != "w" || ask.Want != 8 || ask.Bound != 6 || ask.Told != 4 || ask.Congested || ask.Expiry != testExpiry {
			t.Errorf("asked %+v", ask)
		}
		before = f.count()
		for range 300 {
			s.observe(0, true)
			time.Sleep(100 * time.Millisecond)
		}
		if asks := f.count() - before; asks < 4 || asks > 8 || !f.last().Congested {
			t.Errorf("%d asks in half a minute of refusals, the last %+v", asks, f.last())
		}
		time.Sleep(time.Minute)
		if f.last().Congested {
			t.Error("a congestion is told for ever")
		}
	})
}

// Until the limiter answers, and as long as refusals go on, a worker makes no more
// calls at once than the provider takes.
func TestRefusalsLeaveRoom(t *testing.T) {
	leaseTest(t, 6, func(t *testing.T, s *leasedSlots, f *fakeLessor) {
		var ends []func()
		for range 6 {
			end, err := s.begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, end)
		}
		for range 2 { // of six calls, the provider takes four
			s.observe(0, true)
			ends[0]()
			ends = ends[1:]
		}
		given := reservations(t, s, 6)
		if given.Load() != 4 {
			t.Errorf("%d slots after the provider took four", given.Load())
		}
		time.Sleep(evaluation.LeaseRenewal(testExpiry))
		synctest.Wait()
		if held := f.last().Held; given.Load() != 4 || held != 4 {
			t.Errorf("%d slots in a congestion, %d held", given.Load(), held)
		}
		time.Sleep(2 * evaluation.LeaseRenewal(testExpiry))
		if synctest.Wait(); given.Load() != 6 {
			t.Errorf("%d slots after the congestion, want the six lent", given.Load())
		}
		s.observe(3, false)
		s.ReleaseSlot(nil)
		if s.TryReserveSlot(nil) != nil {
			t.Error("a fourth slot of an account that takes three")
		}
	})
}

// What an ask was to say isn't forgotten when the ask fails.
func TestLostAsk(t *testing.T) {
	leaseTest(t, 4, func(t *testing.T, s *leasedSlots, f *fakeLessor) {
		f.answer(4, errors.New("away"))
		s.observe(3, true)
		time.Sleep(3 * askGap)
		f.answer(4, nil)
		time.Sleep(askGap)
		synctest.Wait()
		if ask := f.last(); !ask.Congested || ask.Told != 3 {
			t.Errorf("asked %+v", ask)
		}
		seqs := map[int]bool{}
		for _, ask := range f.asks {
			if seqs[ask.Seq] {
				t.Errorf("ask %d twice", ask.Seq)
			}
			seqs[ask.Seq] = true
		}
	})
}

func TestSlotsAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newLeasedSlots(8, 6, testExpiry), &fakeLessor{slots: 4}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		(&lessee{name: "w", slots: s, lend: f.lend, leased: func(int, int) {}, log: zap.NewNop()}).run(ctx)
		if f.count() != 1 || f.last().Want != 0 || f.last().Held != 0 {
			t.Errorf("asked %+v", f.asks)
		}
	})
	leaseTest(t, 4, func(t *testing.T, s *leasedSlots, f *fakeLessor) {
		if _, err := s.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ask := s.giveBack("w"); ask.Want != 0 || ask.Held != 1 || s.TryReserveSlot(nil) != nil {
			t.Errorf("with a call in flight: %+v", ask)
		}
	})
}
