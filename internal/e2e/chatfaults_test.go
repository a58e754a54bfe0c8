//go:build integration && linux

package e2e

import (
	"bytes"
	"cmp"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	simledger "github.com/speechmanip/speechmanip/internal/simulator/ledger"
	"github.com/speechmanip/speechmanip/internal/simulator/schedule"
)

// passing are the faults that another try gets over.
var passing = []chat.Fault{
	chat.TooMany, chat.TooManyDate, chat.ServerError, chat.Gateway, chat.StillLoading,
	chat.Reset, chat.LateReset, chat.SlowBody, chat.CutBody, chat.Garbage, chat.NoChoices,
}

// destroying are those of them that lose an answer that was made.
var destroying = []chat.Fault{chat.LateReset, chat.CutBody, chat.Garbage, chat.NoChoices}

// Requests that are made again although an answer came, for other reasons than a
// fault: the canary asks for silence twice, on purpose; and where one of several
// calls of a step fails, the whole step is tried again, as nothing of it is stored.
const (
	canaryRepeats = 1
	tacticRepeats = 1 // a dialogue: the tactic question, when what follows it failed
)

// onDialogues breaks the first try of every request about a dialogue; the probe's
// are about clips of its own.
func onDialogues(kind chat.Fault) func(chat.Call) chat.Fault {
	return func(c chat.Call) chat.Fault {
		if c.Try > 0 || !bytes.Contains(c.Body, []byte("input_audio")) || bytes.Contains(c.Body, []byte("What do you hear?")) {
			return chat.None
		}
		return kind
	}
}

// until plays a fault until a person has mended what causes it.
func until(mended *atomic.Bool, fault func(chat.Call) chat.Fault) func(chat.Call) chat.Fault {
	return func(c chat.Call) chat.Fault {
		if mended.Load() {
			return chat.None
		}
		return fault(c)
	}
}

// mixed breaks a share of all calls, the probe's too, each kind as often.
func mixed(seed uint64, share float64) func(chat.Call) chat.Fault {
	plan := schedule.Even(seed, share, passing...)
	return func(c chat.Call) chat.Fault { return plan.Request(c.Key, c.Try) }
}

// faulty is one row: a simulated server and what has to become of an evaluation
// with it.
type faulty struct {
	name    string
	options chat.Options
	limit   int // of dialogues; 0 is 2
	repeats int // requests made again beside the canary's, at most
	// failure is the code of every dialogue's named failure; "" is that all are done.
	failure string
	// refused is what starter says of a server that is refused before anything is
	// rendered; "" is that the evaluation begins.
	refused string
	// pause is the code of the pause that the evaluation stands in until mended is
	// set and it is resumed; "" is that it doesn't.
	pause  string
	mended *atomic.Bool
	check  func(t *testing.T, built report.Report, total simledger.Total)
}

// TestChatFaults evaluates a few dialogues with a chat server that goes wrong in
// one way after the other, on one dev stack.
func TestChatFaults(t *testing.T) {
	// Asked for a letter, it says neither. The fallback's question then is the same
	// for all five passes.
	evasive := func(p chat.Prompt) map[string]float64 {
		if strings.Contains(p.Question, "(A) ") {
			return map[string]float64{" the": 9, "A": 1, "B": 1}
		}
		return nil
	}
	rows := []faulty{
		// The probe is one step of ten calls, tried again as a whole.
		{name: "ten-percent", options: chat.Options{Fault: mixed(1, 0.1)}, limit: 4, repeats: 40, check: func(t *testing.T, _ report.Report, total simledger.Total) {
			if total.Requests < 30 {
				t.Errorf("only %d requests for four dialogues", total.Requests)
			}
		}},
		{name: "audio-ignored", options: chat.Options{AudioIgnored: true}, refused: "prompt tokens with audio"},
		{name: "audio-unheard", options: chat.Options{AudioUnheard: true}, refused: "does not hear audio: silence and a tone get the same answer"},
		{name: "no-audio-part", options: chat.Options{NoAudio: true}, refused: "does not hear audio: it refuses silence"},
		{name: "audio-cut", options: chat.Options{CutSeconds: 7.5}, failure: "clip_truncated"},
		{name: "small-window", options: chat.Options{Context: 500}, failure: "context_exceeded"},
		{name: "client-mistake", options: chat.Options{Fault: onDialogues(chat.ClientError)}, failure: "refused"},
		{name: "constraint-ignored", options: chat.Options{ConstraintIgnored: true, Script: evasive}, repeats: 2 * 4, check: func(t *testing.T, built report.Report, _ simledger.Total) {
			if p := built.Passes; p.Fallback != 5*built.N || p.Constrained != 0 {
				t.Errorf("passes %+v of %d dialogues: the fallback should have made all", p, built.N)
			}
			if m := built.Settings.Engines.Detector.Method; strings.Contains(m, "constrained") {
				t.Errorf("method %q, but nothing constrains", m)
			}
		}},
		{name: "no-logprobs", options: chat.Options{NoLogprobs: true}, check: func(t *testing.T, built report.Report, _ simledger.Total) {
			if m := built.Settings.Engines.Detector.Method; !strings.Contains(m, "no probabilities") {
				t.Errorf("method %q hides that there are no probabilities", m)
			}
		}},
	}
	keyless, creditless := &atomic.Bool{}, &atomic.Bool{}
	rows = append(rows, faulty{
		name: "401", pause: "unauthorized", mended: keyless, // the probe is refused
		options: chat.Options{Fault: until(keyless, func(chat.Call) chat.Fault { return chat.BadKey })},
	}, faulty{
		name: "429-quota", pause: "quota_exceeded", mended: creditless,
		options: chat.Options{Fault: until(creditless, onDialogues(chat.NoCredit))},
	})
	for _, kind := range passing {
		rows = append(rows, faulty{name: string(kind), options: chat.Options{Fault: onDialogues(kind)}, repeats: 2 * tacticRepeats, check: func(t *testing.T, _ report.Report, total simledger.Total) {
			if lost := total.Destroyed > 0; lost != slices.Contains(destroying, kind) {
				t.Errorf("%d answers destroyed by %s", total.Destroyed, kind)
			}
		}})
	}

	r := newRig(t)
	r.worker(t, "--roles", "workflows,speech,audio")
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if i > 0 { // the first makes the clips of all; the others mostly wait
				t.Parallel()
			}
			row.run(t, r)
		})
	}
}

func (f faulty) run(t *testing.T, r *rig) {
	// vLLM's dialect: its lists of twenty candidates keep slow replies short. Every
	// row is another model, or it would find the earlier rows' passes.
	f.options.Dialect, f.options.Model, f.options.Slots = chat.VLLM, f.name, 8
	simulator := chat.New(f.options)
	server := httptest.NewServer(simulator)
	defer server.Close()

	own := *r
	own.env = append(slices.Clone(r.env), "SPEECHMANIP_CHAT_URL="+server.URL)
	w := own.worker(t, "--roles", "detect", "--accelerator", "gpu-test", "--pool", f.name)
	began := time.Now()
	args := []string{
		"--detector", "chat", "--accelerator", "gpu-test", "--pool", f.name,
		"--limit", strconv.Itoa(cmp.Or(f.limit, 2)), "--id", f.name, "--quality", "off",
	}
	if f.refused != "" {
		if _, errOut, err := own.try(t, append([]string{"evaluate"}, args...)...); err == nil || !strings.Contains(errOut, f.refused) {
			t.Errorf("err %v, stderr %q, want %q", err, errOut, f.refused)
		}
		if n, err := own.archive(t).CountRecords(t.Context(), f.name); err != nil || n != 0 {
			t.Errorf("%d records, %v: nothing should have begun", n, err)
		}
		return
	}
	var built report.Report
	if f.pause == "" {
		built = own.evaluate(t, args...)
	} else {
		own.starter(t, append([]string{"evaluate", "--detach"}, args...)...)
		own.waitPaused(t, f.name, f.pause, 0)
		f.stands(t, simulator)
		f.mended.Store(true)
		own.starter(t, "resume", f.name)
		built = decode(t, own.starter(t, "watch", f.name, "--json"))
	}
	total, log := simulator.Ledger().Total(), readLedger(t, w.log)
	t.Logf("%s: %d of %d done, failures %v; %d completions, %d answered, %d destroyed, %d abandoned, %d repeated, %d duplicates after storage",
		time.Since(began).Round(time.Second), built.N-len(built.Failures), built.Items, codes(built),
		simulator.Completions(), total.Calls, total.Destroyed, total.Abandoned, total.Repeats, len(log.duplicates))

	if f.failure == "" && (built.N != built.Items || len(built.Failures) != 0) {
		t.Errorf("%d of %d done, failures %v", built.N, built.Items, built.Failures)
	}
	if f.failure != "" {
		if len(built.Failures) != built.Items {
			t.Errorf("%d failures of %d dialogues", len(built.Failures), built.Items)
		}
		for _, failure := range built.Failures {
			if failure.Code != f.failure {
				t.Errorf("%s: %s, want %s: %s", failure.ID, failure.Code, f.failure, failure.Message)
			}
		}
	}
	if len(log.duplicates) != 0 {
		t.Errorf("called again after they were stored: %v", log.duplicates)
	}
	if total.Repeats > canaryRepeats+f.repeats || total.Abandoned != 0 || total.InFlight != 0 {
		t.Errorf("ledger %+v, at most %d repeats are due", total, canaryRepeats+f.repeats)
	}
	if f.check != nil {
		f.check(t, built, total)
	}
}

// stands checks that nobody asks the server while the evaluation is paused.
func (f faulty) stands(t *testing.T, simulator *chat.Server) {
	t.Helper()
	time.Sleep(2 * time.Second) // what had begun when it paused
	before := simulator.Completions()
	time.Sleep(3 * time.Second)
	if n := simulator.Completions() - before; n != 0 {
		t.Errorf("%d calls while paused", n)
	}
}

func codes(r report.Report) map[string]int {
	out := map[string]int{}
	for _, f := range r.Failures {
		out[f.Code]++
	}
	return out
}
