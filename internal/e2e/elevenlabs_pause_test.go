//go:build integration && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
)

// TestElevenLabsPauses takes one evaluation through all that only a person can mend:
// a worker without a key, an account out of credits with calls in flight, a worker
// killed while it stands still, and a key that is withdrawn.
func TestElevenLabsPauses(t *testing.T) {
	t.Parallel() // it waits more than it works
	const quota = 200
	r := newRig(t)
	account := r.account(t, elevenlabs.Options{Quota: quota, Latency: 100 * time.Millisecond, Concurrency: 4})
	// Short turns: what is heard is recognised, and that takes its time.
	dataset := "ID,Dialogue,Manipulative,Technique,Vulnerability\n"
	for i := range 6 {
		dataset += fmt.Sprintf("d%d,\"Person1: This is number %[1]d.\nPerson2: So %[1]d it is.\nPerson1: Yes, it is %[1]d.\nPerson2: Fine.\",0,,\n", i)
	}

	keyed := slices.Clone(r.env)
	r.env = append(r.env, "SPEECHMANIP_ELEVENLABS_KEY=")
	keyless := r.worker(t, "--synthesizer", "elevenlabs")
	r.env = keyed
	r.starter(t, "evaluate", "--id", "paused", "--detach", "--synthesizer", "elevenlabs", "--detector", "baseline-duration", "--quality", "off", "--dataset", r.write(t, "short.csv", dataset))
	r.waitPaused(t, "paused", "no_key", 0)
	if status := r.starter(t, "status", "paused"); !strings.Contains(status, "SPEECHMANIP_ELEVENLABS_KEY") {
		t.Errorf("status doesn't say what is missing:\n%s", status)
	}
	if account.Calls() != 0 {
		t.Errorf("%d calls without a key", account.Calls())
	}
	keyless.stop(t)
	w1 := r.worker(t, "--synthesizer", "elevenlabs", "--speech-calls", "4", "--speech-ceiling", "4")
	r.starter(t, "resume", "paused")

	// The account runs out with calls in flight.
	r.waitPaused(t, "paused", "quota_exceeded", 1)
	w1.kill(t)
	killed := len(readLedger(t, w1.log).inFlight)
	w2 := r.worker(t, "--synthesizer", "elevenlabs", "--speech-calls", "4", "--speech-ceiling", "4")
	r.waitPaused(t, "paused", "quota_exceeded", 1)
	r.stands(t, account)
	if spent := account.Ledger().Total().Cost; spent > quota || spent < quota/2 {
		t.Errorf("%d of %d credits are spent", spent, quota)
	}

	// The key is withdrawn meanwhile; resumed twice it stops for that.
	account.AddCredits(100 * quota)
	account.SetAPIKey("another")
	r.starter(t, "resume", "paused")
	r.resumeAgain(t, "paused", 2)
	r.waitPaused(t, "paused", "invalid_api_key", 2)
	r.resumeAgain(t, "paused", 2) // stale: it ends another pause
	r.stands(t, account)
	r.waitPaused(t, "paused", "invalid_api_key", 2)

	account.SetAPIKey(elevenKey)
	r.starter(t, "resume", "paused")
	r.resumeAgain(t, "paused", 3)
	built := decode(t, r.starter(t, "watch", "paused", "--json"))
	if built.N != built.Items || built.Pending != 0 || len(built.Failures) != 0 {
		t.Errorf("n %d of %d, %d pending, failures %v", built.N, built.Items, built.Pending, built.Failures)
	}
	settled(t, account, built, killed, w1.log, w2.log)
	// A turn that waits is asked for once a pause, not again and again.
	total := account.Ledger().Total()
	if refused, turns := account.Calls()-total.Calls, total.Requests; refused == 0 || refused > 2*turns {
		t.Errorf("%d calls were refused in two pauses of %d turns", refused, turns)
	}
	r.repeatedOnlyByTimeout(t, "paused")
}

// waitPaused waits until an evaluation stands still for the reason, after so many
// resumptions.
func (r *rig) waitPaused(t *testing.T, id, code string, resumptions int) {
	t.Helper()
	last := ""
	deadline := time.Now().Add(5 * time.Minute) // a busy machine takes its time
	for ; time.Now().Before(deadline); time.Sleep(300 * time.Millisecond) {
		out, _, err := r.try(t, "status", id, "--json")
		var s struct{ Progress evaluation.Progress }
		if err != nil || json.Unmarshal([]byte(out), &s) != nil {
			continue // the worker that answers may be starting
		}
		if p := s.Progress.Paused; p != nil && p.Code == code && p.Generation == resumptions {
			return
		}
		last = out
	}
	t.Fatalf("not paused by %s after %d resumptions: %s", code, resumptions, last)
}

// stands checks that calls to the provider cease while an evaluation is paused: what had
// been scheduled when it paused may still begin, late on a busy machine.
func (r *rig) stands(t *testing.T, account *elevenlabs.Server) {
	t.Helper()
	waitFor(t, time.Minute, "five seconds without a call", func() bool {
		before := account.Calls()
		time.Sleep(5 * time.Second)
		return account.Calls() == before && account.Ledger().Total().InFlight == 0
	})
}

// resumeAgain sends a resumption that has been sent before.
func (r *rig) resumeAgain(t *testing.T, id string, generation int) {
	t.Helper()
	temporal := r.temporal(t)
	defer temporal.Close()
	resume := evaluation.Resume{Generation: generation}
	if err := temporal.SignalWorkflow(t.Context(), evaluation.WorkflowID(id), "", evaluation.SignalResume, resume); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) temporal(t *testing.T) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: r.stack.Temporal, Namespace: r.stack.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// repeatedOnlyByTimeout checks that an evaluation's activities were tried again only
// where a worker was gone, and once: waiting for a person uses up no attempts.
func (r *rig) repeatedOnlyByTimeout(t *testing.T, id string) {
	t.Helper()
	c := r.temporal(t)
	defer c.Close()
	for _, record := range decode(t, r.starter(t, "report", id, "--format", "json")).Dialogues {
		events := c.GetWorkflowHistory(t.Context(), evaluation.DialogueWorkflowID(id, record.ID, 0), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				t.Fatal(fmt.Errorf("history of %s: %w", record.ID, err))
			}
			started := event.GetActivityTaskStartedEventAttributes()
			if last := started.GetLastFailure(); last != nil && last.GetTimeoutFailureInfo() == nil {
				t.Errorf("an activity of %s was tried again after %q", record.ID, last.GetMessage())
			}
			if n := started.GetAttempt(); n > 2 {
				t.Errorf("an activity of %s took %d attempts: one worker was killed", record.ID, n)
			}
		}
	}
}
