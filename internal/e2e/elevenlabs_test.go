//go:build integration && linux

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
	"github.com/speechmanip/speechmanip/internal/simulator/schedule"
	"github.com/speechmanip/speechmanip/internal/voice"
)

const elevenKey = "sk_marked_elevenlabs"

// account starts a simulated ElevenLabs account with the paper's voices, and tells
// the workers that are started from now on.
func (r *rig) account(t *testing.T, o elevenlabs.Options) *elevenlabs.Server {
	t.Helper()
	pool, err := voice.BuiltIn("paper")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range pool.Voices {
		o.Voices = append(o.Voices, v.Params["id"])
	}
	o.APIKey = elevenKey
	simulator := elevenlabs.New(o)
	server := httptest.NewServer(simulator)
	t.Cleanup(server.Close)
	r.env = append(r.env, "SPEECHMANIP_ELEVENLABS_URL="+server.URL, "SPEECHMANIP_ELEVENLABS_KEY="+elevenKey)
	return simulator
}

// settled checks what has been paid against what the report and the workers' logs
// say, and prints the three numbers: duplicates, calls in flight at a kill, billed
// replies destroyed by a fault. killed is how many calls were in flight at kills.
func settled(t *testing.T, account *elevenlabs.Server, built report.Report, killed int, logs ...string) {
	t.Helper()
	waitFor(t, 10*time.Second, "the simulator to be done", func() bool { return account.Ledger().Total().InFlight == 0 })
	total, workers := account.Ledger().Total(), readLedger(t, logs...)
	t.Logf("%d billed calls for %d turns: duplicates %d, in flight at a kill %d, destroyed by a fault %d (abandoned %d)",
		total.Calls, total.Requests, len(workers.duplicates), killed, total.Destroyed, total.Abandoned)
	if len(workers.duplicates) != 0 {
		t.Errorf("called again after they were stored: %v", workers.duplicates)
	}
	// A reply that had arrived when its worker was killed is paid again: it was never stored.
	if total.Repeats+total.Abandoned > killed || total.Overlaps > killed {
		t.Errorf("%d paid again, %d abandoned and %d paid twice at once, with %d calls in flight at a kill: %+v",
			total.Repeats, total.Abandoned, total.Overlaps, killed, total)
	}
	if u := built.Usage; killed == 0 && u.Credits != total.Cost-total.Wasted || u.Credits > total.Cost {
		t.Errorf("the report says %d credits, the account %d, of which %d were wasted", u.Credits, total.Cost, total.Wasted)
	}
}

// faultRow is a dialogue whose turns' first tries all meet one fault.
type faultRow struct {
	fault elevenlabs.Fault
	tries int
	want  string // the code of the dialogue's failure; "" is a verdict
}

const always = 1 << 30

// faultRows has every fault that needs no person.
func faultRows() []faultRow {
	rows := []faultRow{
		{elevenlabs.None, 0, ""},
		{elevenlabs.VoiceGone, always, "voice_not_found"},
		{elevenlabs.PlanTooSmall, always, "plan_too_small"},
		{elevenlabs.PlanNotPaid, always, "plan_too_small"},
		{elevenlabs.Unprocessable, always, "bad_request"},
		{elevenlabs.Busy, 2, ""},
		{elevenlabs.CutBody, 2, ""},
	}
	for _, f := range elevenlabs.Faults() {
		pauses := f == elevenlabs.NoQuota || f == elevenlabs.NoKeyQuota || f == elevenlabs.BadKey
		if !pauses && !slices.ContainsFunc(rows, func(r faultRow) bool { return r.fault == f }) {
			rows = append(rows, faultRow{f, 1, ""})
		}
	}
	return rows
}

var rowNumber = regexp.MustCompile(`row (\d+)`)

// TestElevenLabsFaults evaluates a dialogue for each fault, all in one evaluation: a
// fault that passes costs nobody a verdict, and one that is for good fails its own
// dialogue by name.
func TestElevenLabsFaults(t *testing.T) {
	t.Parallel() // it waits more than it works
	rows := faultRows()
	r := newRig(t)
	account := r.account(t, elevenlabs.Options{Fault: func(c elevenlabs.Call) elevenlabs.Fault {
		match := rowNumber.FindStringSubmatch(c.Text)
		if match == nil {
			return elevenlabs.None
		}
		n, _ := strconv.Atoi(match[1]) // the pattern's digits
		if row := rows[n]; c.Try < row.tries {
			return row.fault
		}
		return elevenlabs.None
	}})
	w := r.worker(t, "--synthesizer", "elevenlabs", "--speech-ceiling", "8", "--speech-calls", "8")

	var dataset strings.Builder
	want := map[string]string{}
	add := func(id, failure string, texts ...string) {
		turns := []map[string]string{}
		for i, text := range texts {
			turns = append(turns, map[string]string{"speaker": fmt.Sprintf("Person%d", 1+i%2), "text": text})
		}
		line, err := json.Marshal(map[string]any{"id": id, "turns": turns, "truth": "NO"})
		if err != nil {
			t.Fatal(err)
		}
		dataset.Write(append(line, '\n'))
		want[id] = failure
	}
	for i, row := range rows {
		add(fmt.Sprintf("%02d %s", i, cmp.Or(row.fault, "none")), row.want, fmt.Sprintf("I am row %d.", i), fmt.Sprintf("So row %d it is.", i))
	}
	add("too-long", "text_too_long", "This is fine.", strings.Repeat("This is not. ", 800))
	built := r.evaluate(t, "--id", "faults", "--synthesizer", "elevenlabs", "--detector", "baseline-duration", "--quality", "off", "--dataset", r.write(t, "faults.jsonl", dataset.String()), "--dialogues", "40")

	got := map[string]string{}
	for _, d := range built.Dialogues {
		if d.Failure == nil {
			got[d.ID] = ""
			continue
		}
		got[d.ID] = d.Failure.Code
		if !strings.HasPrefix(d.Failure.Stage, "synthesise turns") {
			t.Errorf("%s failed in stage %q", d.ID, d.Failure.Stage)
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if built.Pending != 0 || len(built.Failures) != 5 {
		t.Errorf("%d pending, failures %v", built.Pending, built.Failures)
	}
	settled(t, account, built, 0, w.log)
}

// TestElevenLabsUnderFaults evaluates part of the sample with both providers
// simulated, while one call in ten goes wrong and a worker is killed.
func TestElevenLabsUnderFaults(t *testing.T) {
	t.Parallel() // it waits more than it works
	var kinds []elevenlabs.Fault
	for _, row := range faultRows() {
		if row.want == "" && row.fault != elevenlabs.None && row.fault != elevenlabs.SlowBody {
			kinds = append(kinds, row.fault)
		}
	}
	plan := schedule.Even(3, 0.1, kinds...)
	r := newRig(t)
	account := r.account(t, elevenlabs.Options{Latency: 300 * time.Millisecond, Fault: func(c elevenlabs.Call) elevenlabs.Fault {
		return plan.Request(c.Key, c.Try)
	}})
	server := httptest.NewServer(chat.New(chat.Options{Dialect: chat.Llama, Model: "tiny"}))
	defer server.Close()
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+server.URL)
	flags := []string{"--synthesizer", "elevenlabs", "--accelerator", "gpu-test", "--pool", "chat", "--speech-calls", "6", "--speech-ceiling", "6"}
	w1 := r.worker(t, flags...)
	r.starter(t, "evaluate", "--id", "mixed", "--detach", "--synthesizer", "elevenlabs", "--detector", "chat", "--accelerator", "gpu-test", "--pool", "chat", "--quality", "off", "--limit", "16")
	waitFor(t, time.Minute, "some turns to be made", func() bool { return account.Ledger().Total().Calls >= 10 })
	w1.kill(t)
	killed := readLedger(t, w1.log).inFlight
	w2 := r.worker(t, flags...)
	built := decode(t, r.starter(t, "watch", "mixed", "--json"))
	if built.Pending != 0 || len(built.Failures) != 0 || built.N != built.Items {
		t.Errorf("n %d of %d, %d pending, failures %v", built.N, built.Items, built.Pending, built.Failures)
	}
	maps.DeleteFunc(killed, func(key string, _ bool) bool { return !strings.HasPrefix(key, "turns/") })
	settled(t, account, built, len(killed), w1.log, w2.log)
}
