//go:build integration && linux

package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// TestSample evaluates the built-in sample twice undisturbed, and once on
// another stack with everything killed in the middle.
func TestSample(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	r.worker(t)
	first := r.evaluate(t, "--id", "first")

	t.Run("every dialogue has a verdict", func(t *testing.T) {
		if first.N != first.Items || first.Items < 24 || len(first.Failures) != 0 || first.Pending != 0 {
			t.Errorf("n %d of %d items, %d pending, failures %v", first.N, first.Items, first.Pending, first.Failures)
		}
		if !strings.Contains(first.Note, "not evidence") {
			t.Errorf("note %q", first.Note)
		}
		for _, d := range first.Dialogues {
			if len(d.Passes) != 5 {
				t.Errorf("%s has %d passes", d.ID, len(d.Passes))
			}
			if yes := d.Verdict.Verdict == vote.Yes; yes != (d.Tactic != nil) || yes != (d.Evidence != nil) {
				t.Errorf("%s: verdict %s, tactic %v, evidence %v", d.ID, d.Verdict.Verdict, d.Tactic, d.Evidence)
			}
		}
	})
	t.Run("a second evaluation pays nothing and says the same", func(t *testing.T) {
		second := r.evaluate(t, "--id", "second")
		if u := second.Usage; u.TurnsMade+u.ClipsMade+u.Recognized+u.PassesMade != 0 {
			t.Errorf("made again: %+v", u)
		}
		if diff := cmp.Diff(verdicts(first), verdicts(second)); diff != "" {
			t.Errorf("verdicts differ (-first +second):\n%s", diff)
		}
	})
	t.Run("fresh passes are asked anew", func(t *testing.T) {
		fresh := r.evaluate(t, "--id", "fresh", "--passes", "fresh", "--limit", "2")
		if u := fresh.Usage; u.TurnsMade+u.ClipsMade+u.Recognized != 0 || u.PassesMade < 10 {
			t.Errorf("usage %+v", u)
		}
	})
	t.Run("a used id is refused with the way out", func(t *testing.T) {
		_, errOut, err := r.try(t, "evaluate", "--id", "first")
		if err == nil || !strings.Contains(errOut, "another --id") || !strings.Contains(errOut, "starter watch first") {
			t.Errorf("err %v, stderr %q", err, errOut)
		}
	})
	t.Run("loudness", func(t *testing.T) { checkLoudness(t, r.archive(t), first) })
	t.Run("status and list", func(t *testing.T) {
		var s struct {
			State           string
			Dialogues, Done int
		}
		if err := json.Unmarshal([]byte(r.starter(t, "status", "first", "--json")), &s); err != nil {
			t.Fatal(err)
		}
		if s.State != "completed" || s.Done != first.Items || s.Dialogues != first.Items {
			t.Errorf("status %+v", s)
		}
		if list := r.starter(t, "list"); !strings.Contains(list, "first") || !strings.Contains(list, "second") {
			t.Errorf("list:\n%s", list)
		}
	})
	t.Run("after Temporal's retention", func(t *testing.T) { r.afterRetention(t, first) })
	t.Run("kill -9 of everything", func(t *testing.T) { killEverything(t, first) })
}

// killEverything kills the worker and then the dev stack in the middle of the
// sample, and compares the verdicts with the undisturbed ones.
func killEverything(t *testing.T, undisturbed report.Report) {
	r := newRig(t)
	w1 := r.worker(t)
	r.starter(t, "evaluate", "--id", "killed", "--detach", "--dialogues", "6")
	archive := r.archive(t)
	waitFor(t, 2*time.Minute, "some dialogues to be done", func() bool {
		n, err := archive.CountRecords(t.Context(), "killed")
		return err == nil && n >= 4
	})
	w1.kill(t)
	inFlight := len(readLedger(t, w1.log).inFlight)
	r.stack.Kill(t)
	r.stack.Restart(t)
	w2 := r.worker(t)
	waitFor(t, 2*time.Minute, "more dialogues to be done", func() bool {
		n, err := archive.CountRecords(t.Context(), "killed")
		return err == nil && n >= 10
	})
	// Now the stack under a living worker.
	r.stack.Kill(t)
	r.stack.Restart(t)
	killed := decode(t, r.starter(t, "watch", "killed", "--json"))

	if diff := cmp.Diff(verdicts(undisturbed), verdicts(killed)); diff != "" {
		t.Errorf("verdicts differ (-undisturbed +killed):\n%s", diff)
	}
	l := readLedger(t, w1.log, w2.log)
	t.Logf("calls %d, in flight when the worker was killed %d, duplicates after storage %d", l.calls, inFlight, len(l.duplicates))
	if len(l.duplicates) != 0 {
		t.Errorf("called again after they were stored: %v", l.duplicates)
	}
	if l.calls < len(l.stored) || len(l.stored) == 0 {
		t.Errorf("%d calls for %d stored results: the log is not what it should be", l.calls, len(l.stored))
	}
}

// verdict is what must not depend on faults, times or hosts.
type verdict struct {
	Verdict vote.Outcome
	Tactic  *vote.TacticOutcome
	Quote   *evaluation.EvidenceRecord
	Clip    string
}

func verdicts(r report.Report) map[string]verdict {
	all := map[string]verdict{}
	for _, d := range r.Dialogues {
		all[d.ID] = verdict{d.Verdict, d.Tactic, d.Evidence, d.Clip.SHA256}
	}
	return all
}

func TestTerminateEndsTheWholeTree(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	out, errOut, err := r.try(t, "evaluate", "--id", "gone", "--detach")
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errOut)
	}
	// Without a worker nothing moves, and status says what is missing.
	status := r.starter(t, "status", "gone")
	for _, queue := range []string{`"speechmanip"`, `"speech-flite"`, `"audio"`, `"detect-cpu-baseline"`} {
		if !strings.Contains(status, "no worker polls queue "+queue) {
			t.Errorf("status doesn't name queue %s:\n%s", queue, status)
		}
	}
	w := r.worker(t)
	archive := r.archive(t)
	waitFor(t, 2*time.Minute, "a dialogue to be done", func() bool {
		n, err := archive.CountRecords(t.Context(), "gone")
		return err == nil && n >= 1
	})
	r.starter(t, "terminate", "gone")
	w.kill(t)
	recorded, err := archive.CountRecords(t.Context(), "gone")
	if err != nil {
		t.Fatal(err)
	}
	// A new worker finds nothing to go on with.
	r.worker(t)
	time.Sleep(5 * time.Second)
	if n, err := archive.CountRecords(t.Context(), "gone"); err != nil || n != recorded {
		t.Errorf("%d records, %d before (err %v): something goes on", n, recorded, err)
	}
	if !strings.Contains(r.starter(t, "status", "gone"), "terminated") {
		t.Error("status doesn't say terminated")
	}
	partial := decode(t, r.starter(t, "report", "gone", "--format", "json"))
	if partial.Pending != partial.Items-recorded || partial.Pending == 0 {
		t.Errorf("%d of %d pending with %d records", partial.Pending, partial.Items, recorded)
	}
}

func TestCancelReportsWhatIsDone(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	r.worker(t)
	r.starter(t, "evaluate", "--id", "cancelled", "--detach", "--dialogues", "2")
	archive := r.archive(t)
	waitFor(t, 2*time.Minute, "a dialogue to be done", func() bool {
		n, err := archive.CountRecords(t.Context(), "cancelled")
		return err == nil && n >= 1
	})
	r.starter(t, "cancel", "cancelled")
	out, errOut, err := r.try(t, "watch", "cancelled", "--json")
	if err == nil || !strings.Contains(errOut, "CANCELED") && !strings.Contains(strings.ToLower(errOut), "cancel") {
		t.Errorf("err %v, stderr %q", err, errOut)
	}
	built := decode(t, out)
	if built.Pending == 0 || built.N == 0 || len(built.Failures) != 0 {
		t.Errorf("n %d, pending %d, failures %v", built.N, built.Pending, built.Failures)
	}
}

func TestWrongVoicesFailBeforeAnythingStarts(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	r.worker(t)
	pool := r.write(t, "pool.toml", `name = "mine"
synthesizer = "flite"
[[voices]]
slug = "a"
params = { voice = "nobody", duration_stretch = "1.0", relabel_hz = "16000" }
[[voices]]
slug = "b"
params = { voice = "slt", duration_stretch = "1.0", relabel_hz = "16000" }
`)
	_, errOut, err := r.try(t, "evaluate", "--id", "voices", "--voices", pool)
	if err == nil || !strings.Contains(errOut, `"a"`) && !strings.Contains(errOut, "nobody") {
		t.Errorf("err %v, stderr %q", err, errOut)
	}
	for entry, err := range r.archive(t).Store.List(t.Context(), "turns/") {
		t.Errorf("a turn was made: %v %v", entry.Key, err)
	}
}
