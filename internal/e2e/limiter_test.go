//go:build integration && linux

package e2e

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
)

// slots asks an account's limiter what it has lent.
func (r *rig) slots(t *testing.T, account string) evaluation.LimiterStatus {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: r.stack.Temporal, Namespace: r.stack.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	value, err := c.QueryWorkflow(t.Context(), evaluation.LimiterWorkflowID(account), "", evaluation.QuerySlots)
	if err != nil {
		t.Fatal(err)
	}
	var status evaluation.LimiterStatus
	if err := value.Get(&status); err != nil {
		t.Fatal(err)
	}
	return status
}

// shortTurns writes a dataset of up to 26 dialogues, each turn another syllable that
// is soon heard: these tests are about speaking.
func (r *rig) shortTurns(t *testing.T, dialogues, turns int) (path string) {
	t.Helper()
	var dataset strings.Builder
	for d := range dialogues {
		var lines []string
		for n := range turns {
			lines = append(lines, fmt.Sprintf(`{"speaker": "Person%d", "text": "%c%c."}`, 1+n%2, 'A'+d, 'a'+n))
		}
		fmt.Fprintf(&dataset, `{"id": "d%d", "turns": [%s], "truth": "NO"}`+"\n", d, strings.Join(lines, ", "))
	}
	return r.write(t, "short.jsonl", dataset.String())
}

// chatDetector starts a worker for all but speech, with a simulated chat server.
// It returns the flags for the starter.
func (r *rig) chatDetector(t *testing.T) []string {
	t.Helper()
	server := httptest.NewServer(chat.New(chat.Options{Dialect: chat.Llama, Model: "tiny"}))
	t.Cleanup(server.Close)
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+server.URL)
	queue := []string{"--accelerator", "gpu-test", "--pool", "chat"}
	r.worker(t, append(queue, "--roles", "workflows,audio,detect")...)
	return append(queue, "--detector", "chat", "--quality", "off")
}

// logged counts a message in a worker's log.
func (w *workerProcess) logged(t *testing.T, message string) int {
	t.Helper()
	log, err := os.ReadFile(w.log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), `"msg":"`+message+`"`)
}

// TestCeilingThroughAKill has two speech workers share an account's ceiling while
// one of them is killed and another takes its place.
func TestCeilingThroughAKill(t *testing.T) {
	t.Parallel() // it waits more than it works
	const ceiling = 4
	r := newRig(t)
	// The simulator itself would take any number of calls at once.
	account := r.account(t, elevenlabs.Options{Latency: time.Second})
	detection := r.chatDetector(t)
	flags := []string{"--roles", "speech", "--synthesizer", "elevenlabs", "--speech-account", "shared", "--speech-ceiling", "4", "--speech-calls", "8"}
	w1, w2 := r.worker(t, flags...), r.worker(t, flags...)
	r.starter(t, append([]string{"evaluate"}, append(detection, "--id", "limited", "--detach", "--synthesizer", "elevenlabs",
		"--dataset", r.shortTurns(t, 26, 6), "--dialogues", "20")...)...)
	waitFor(t, 2*time.Minute, "both workers to speak", func() bool {
		return w1.logged(t, "stored") >= 4 && w2.logged(t, "stored") >= 4
	})
	w1.kill(t)
	killed := readLedger(t, w1.log).inFlight
	before := account.Ledger().Total().Peak
	w3 := r.worker(t, flags...)
	waitFor(t, 2*time.Minute, "the slots of the killed worker to be lent again", func() bool {
		status := r.slots(t, "shared")
		sum := 0
		for _, n := range status.Slots {
			sum += n
		}
		if sum > ceiling || status.Ceiling != ceiling {
			t.Fatalf("lent %+v", status)
		}
		return sum == ceiling && len(status.Slots) == 2
	})
	built := decode(t, r.starter(t, "watch", "limited", "--json"))

	total := account.Ledger().Total()
	asks := w1.logged(t, "slots") + w2.logged(t, "slots") + w3.logged(t, "slots")
	t.Logf("%d calls, at most %d at once before the kill and %d in all; %d asks of the limiter", total.Calls, before, total.Peak, asks)
	if before != ceiling || total.Peak != ceiling {
		t.Errorf("at most %d calls at once before the kill, %d in all, want %d", before, total.Peak, ceiling)
	}
	if w3.logged(t, "stored") == 0 {
		t.Error("the third worker has spoken nothing")
	}
	if asks >= total.Calls {
		t.Errorf("%d asks of the limiter for %d calls", asks, total.Calls)
	}
	if built.Pending != 0 || len(built.Failures) != 0 || built.N != built.Items {
		t.Errorf("n %d of %d, %d pending, failures %v", built.N, built.Items, built.Pending, built.Failures)
	}
	maps.DeleteFunc(killed, func(key string, _ bool) bool { return !strings.HasPrefix(key, "turns/") })
	settled(t, account, built, len(killed), w1.log, w2.log, w3.log)
}

// TestCeilingFollowsTheProvider has the provider allow less than is configured:
// once it only refuses calls, once it tells how many it takes.
func TestCeilingFollowsTheProvider(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	detection := r.chatDetector(t)
	for _, test := range []struct {
		name          string
		options       elevenlabs.Options
		lowest, most  int // what the ceiling may be in the end
		told, refused int // the most calls that may be refused
	}{
		// Halved once, or twice where the provider still counts a call that its client has
		// seen the end of; and risen by one now and then, as time goes by.
		{"refuses", elevenlabs.Options{Concurrency: 4, Untold: true, Latency: time.Second}, 2, 7, 0, 20},
		{"tells", elevenlabs.Options{Concurrency: 3, Latency: time.Second}, 3, 3, 3, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			account := r.account(t, test.options)
			w := r.worker(t, "--roles", "speech", "--synthesizer", "elevenlabs", "--speech-account", test.name, "--speech-ceiling", "8", "--speech-calls", "8")
			defer w.kill(t) // the next one must not share its queue
			built := r.evaluate(t, append(detection, "--id", test.name, "--synthesizer", "elevenlabs",
				"--dataset", r.shortTurns(t, 8, 6), "--dialogues", "8")...)
			status := r.slots(t, test.name)
			refused := account.Calls() - account.Ledger().Total().Calls
			t.Logf("%d of %d calls refused, the limiter: %+v", refused, account.Calls(), status)
			if status.Ceiling < test.lowest || status.Ceiling > test.most || status.Told != test.told {
				t.Errorf("the limiter: %+v, want a ceiling of %d to %d, %d told", status, test.lowest, test.most, test.told)
			}
			if refused == 0 || refused > test.refused {
				t.Errorf("%d calls refused, want 1 to %d", refused, test.refused)
			}
			if built.Pending != 0 || len(built.Failures) != 0 {
				t.Errorf("%d pending, failures %v", built.Pending, built.Failures)
			}
			settled(t, account, built, 0, w.log)
		})
	}
}
