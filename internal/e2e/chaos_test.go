//go:build integration && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/report"
)

// The long version is asked for: `make test-chaos`.
const (
	chaosEnv     = "SPEECHMANIP_CHAOS"      // set: the long version
	chaosSeedEnv = "SPEECHMANIP_CHAOS_SEED" // of the schedule; default 1
)

// TestChaos evaluates the same dialogues undisturbed and with everything going
// wrong, and wants the same of both.
func TestChaos(t *testing.T) {
	t.Parallel() // it waits more than it works
	seed, err := strconv.ParseUint(os.Getenv(chaosSeedEnv), 10, 64)
	if err != nil {
		seed = 1
	}
	random := rand.New(rand.NewPCG(seed, 0))
	dialogues, faults := 12, shortSchedule(random)
	if os.Getenv(chaosEnv) != "" {
		dialogues, faults = 200, longSchedule(random)
	}
	paid := newProviders(t, 200*time.Millisecond)
	var undisturbed outcome
	ok := t.Run("undisturbed", func(t *testing.T) {
		a := newArena(t, random, paid)
		a.evaluate("chaos", dialogues)
		undisturbed = a.outcome("chaos")
		if l := readLedger(t, a.logs...); len(l.duplicates) != 0 || l.calls != len(l.stored) {
			t.Errorf("undisturbed: %d calls for %d results, duplicates %v", l.calls, len(l.stored), l.duplicates)
		}
	})
	if !ok {
		t.FailNow()
	}
	before := paid.bill()

	a := newArena(t, random, paid)
	began := time.Now()
	a.evaluate("chaos", dialogues)
	played := a.play("chaos", dialogues, faults, began)
	disturbed := a.outcome("chaos")

	if played != len(faults) {
		t.Errorf("the evaluation ended after %d of %d faults: slow the providers down", played, len(faults))
	}
	if n := disturbed.built; n.N != dialogues || n.Pending != 0 || len(n.Failures) != 0 {
		t.Errorf("%d of %d done, %d pending, failures %v", n.N, dialogues, n.Pending, n.Failures)
	}
	if !bytes.Equal(undisturbed.verdicts, disturbed.verdicts) {
		t.Errorf("verdicts differ (-undisturbed +disturbed):\n%s", cmp.Diff(string(undisturbed.verdicts), string(disturbed.verdicts)))
	}
	if diff := cmp.Diff(undisturbed.keys, disturbed.keys); diff != "" {
		t.Errorf("stored objects differ (-undisturbed +disturbed):\n%s", diff)
	}
	a.account(began, played, before, paid)
}

// play waits for each fault's share of the work to be done, or not to go on, and
// plays it. It returns how many it played before all was done.
func (a *arena) play(id string, dialogues int, faults []chaosFault, began time.Time) int {
	a.t.Helper()
	const stuck = 20 * time.Second
	for i, fault := range faults {
		share, waiting := 1+i*dialogues/(len(faults)+1), time.Now()
		for a.recorded(id) < share && time.Since(waiting) < stuck {
			time.Sleep(50 * time.Millisecond)
		}
		done := a.recorded(id)
		if done == dialogues {
			return i
		}
		a.t.Logf("%5.1f s, %3d done: %s", time.Since(began).Seconds(), done, fault.name)
		fault.play(a)
	}
	return len(faults)
}

// outcome is what must not depend on faults, times, attempts or hosts.
type outcome struct {
	built    report.Report
	verdicts []byte
	keys     []string // of what is stored
}

func (a *arena) outcome(id string) outcome {
	a.t.Helper()
	o := outcome{built: decode(a.t, a.rig.starter(a.t, "watch", id, "--json"))}
	var err error
	if o.verdicts, err = json.MarshalIndent(verdicts(o.built), "", " "); err != nil {
		a.t.Fatal(err)
	}
	o.keys = a.keys("turns/", "clips/", "prepared/", "passes/", "evaluations/"+id+"/records/")
	return o
}

// account compares what was called, stored and billed.
func (a *arena) account(began time.Time, faults int, undisturbed bill, paid *providers) {
	a.t.Helper()
	all, turns := readLedger(a.t, a.logs...), 0
	for key := range all.stored {
		if strings.HasPrefix(key, "turns/") {
			turns++
		}
	}
	spoken, answered := paid.since(undisturbed)
	a.t.Logf("%.0f s, %d faults, %d workers: %d calls for %d results; duplicates after storage %d; calls in flight at a kill %d, failed by a fault %d, results not stored %d; replies billed and destroyed: %d of %d turns, %d of %d answers",
		time.Since(began).Seconds(), faults, len(a.logs), all.calls, len(all.stored), len(all.duplicates), a.killed, all.failed, all.unstored,
		spoken.again, spoken.calls, answered.again, answered.calls)
	if len(all.duplicates) != 0 {
		a.t.Errorf("called again after they were stored: %v", all.duplicates)
	}
	// Whatever is called more often than it is stored was lost to a kill or a fault.
	if lost := all.calls - len(all.stored); lost < 0 || spoken.calls-turns > lost {
		a.t.Errorf("%d turns were paid for %d stored, but only %d calls were lost", spoken.calls, turns, lost)
	}
}
