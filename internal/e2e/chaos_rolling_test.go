//go:build integration && linux

package e2e

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestRollingRestarts replaces workers one by one by SIGTERM while an evaluation
// runs: each ends within its drain, what it was calling is stored, and nothing is
// called twice.
func TestRollingRestarts(t *testing.T) {
	t.Parallel() // it waits more than it works
	const (
		dialogues = 20
		drain     = 150 * time.Second // the default
	)
	paid := newProviders(t, 700*time.Millisecond)
	a := newArena(t, rand.New(rand.NewPCG(1, 0)), paid)
	a.evaluate("rolling", dialogues)
	atSignal := 0
	for i, worker := range []int{1, 2, 0, 1, 2} {
		// Slowly enough that the last one comes long before the end.
		waitFor(t, 2*time.Minute, "some dialogues to be done", func() bool { return a.recorded("rolling") > 2*i })
		if worker != 0 { // with workflows alone it makes no calls
			waitFor(t, time.Minute, "calls to be in flight", func() bool { return len(readLedger(t, a.workers[worker].log).inFlight) > 0 })
		}
		inFlight, took := a.replaceWorker(worker)
		t.Logf("worker %d: %d calls in flight at SIGTERM, ended after %.1f s", worker, inFlight, took.Seconds())
		if took > drain {
			t.Errorf("worker %d took %s to end, more than its drain of %s", worker, took, drain)
		}
		atSignal += inFlight
	}
	if n := a.recorded("rolling"); n == dialogues {
		t.Error("all was done before the last restart: slow the providers down")
	}
	if atSignal == 0 {
		t.Error("no call was in flight at a SIGTERM: that shows nothing")
	}
	built := a.outcome("rolling").built
	if built.N != dialogues || built.Pending != 0 || len(built.Failures) != 0 {
		t.Errorf("%d of %d done, %d pending, failures %v", built.N, dialogues, built.Pending, built.Failures)
	}
	l := readLedger(t, a.logs...)
	t.Logf("%d calls for %d results, %d of them in flight at a SIGTERM", l.calls, len(l.stored), atSignal)
	if l.calls != len(l.stored) || l.failed+l.unstored != 0 || len(l.inFlight) != 0 || len(l.duplicates) != 0 {
		t.Errorf("%d calls for %d results, %d failed or not stored, never stored %v, duplicates %v", l.calls, len(l.stored), l.failed+l.unstored, l.inFlight, l.duplicates)
	}
	speech, detector := paid.eleven.Ledger().Total(), paid.chat.Ledger().Total()
	if speech.Calls != speech.Requests || speech.Abandoned+speech.Destroyed != 0 {
		t.Errorf("turns were paid twice or for nothing: %+v", speech)
	}
	if detector.Abandoned+detector.Destroyed != 0 { // each worker probes, with the same questions
		t.Errorf("answers were paid for nothing: %+v", detector)
	}
}
