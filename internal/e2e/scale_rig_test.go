//go:build integration && linux

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/devstacktest"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
)

// bench is a rig with simulated providers and one worker process for each group of
// roles, whose use of the machine is measured.
type bench struct {
	*rig
	speech  time.Duration // latency of a turn
	detect  time.Duration // latency of a question
	workers []*workerProcess
	roles   []string // of the workers
}

// The simulated providers' calls at once.
const (
	speechSlots = 10
	detectSlots = 8
)

// newBench starts everything with simulated providers. Roles are those of one worker
// each.
func newBench(t *testing.T, speech, detector time.Duration, script func(chat.Prompt) map[string]float64, roles ...string) *bench {
	t.Helper()
	b := &bench{rig: newRig(t), speech: speech, detect: detector}
	b.account(t, elevenlabs.Options{Latency: speech})
	server := httptest.NewServer(chat.New(chat.Options{Dialect: chat.VLLM, Model: "bench", Slots: detectSlots, Latency: detector, Script: script}))
	t.Cleanup(server.Close)
	b.env = append(b.env, "SPEECHMANIP_CHAT_URL="+server.URL)
	for _, role := range roles {
		b.start(t, role, "--synthesizer", "elevenlabs", "--accelerator", "bench", "--pool", "chat",
			"--speech-calls", fmt.Sprint(speechSlots), "--speech-ceiling", fmt.Sprint(speechSlots), "--detect-calls", fmt.Sprint(detectSlots))
	}
	return b
}

// start starts a worker.
func (b *bench) start(t *testing.T, role string, flags ...string) {
	t.Helper()
	b.roles = append(b.roles, role)
	b.workers = append(b.workers, b.worker(t, append([]string{"--roles", role}, flags...)...))
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// processes is what everything that runs has used so far.
func (b *bench) processes(t *testing.T) []usage {
	t.Helper()
	all := []usage{usageOf(t, "Temporal", b.stack.PID)}
	for _, child := range childrenOf(t, b.stack.PID) {
		all = append(all, usageOf(t, "S3", child))
	}
	for i, w := range b.workers {
		u := usageOf(t, "worker "+b.roles[i], w.cmd.Process.Pid)
		all = append(all, u)
		all[len(all)-1].cpu -= u.children
		all = append(all, usage{name: "engines of " + b.roles[i], cpu: u.children})
	}
	return append(all, usageOf(t, "simulators, harness", os.Getpid()))
}

// measured is one evaluation.
type measured struct {
	report   report.Report
	wall     time.Duration // of the evaluation's workflow
	checks   time.Duration // of wall: before the first chunk; a chat server is probed by some eight requests in a row
	used     []usage       // since it was started
	size     tree
	activity float64 // a second
}

// dialogues returns a dataset of so many dialogues whose turns are texts of their own.
func (b *bench) dialogues(t *testing.T, name string, dialogues, turns int) string {
	t.Helper()
	var dataset strings.Builder
	for d := range dialogues {
		var lines []string
		for n := range turns {
			lines = append(lines, fmt.Sprintf(`{"speaker": "Person%d", "text": "This is part %d of dialogue %d of %s, as long as people say."}`, 1+n%2, n+1, d+1, name))
		}
		fmt.Fprintf(&dataset, `{"id": "%s-%05d", "turns": [%s], "truth": "NO"}`+"\n", name, d+1, strings.Join(lines, ", "))
	}
	return b.write(t, name+".jsonl", dataset.String())
}

// clips writes a clip for each dialogue of a dataset of that name: a tone of its own.
func (b *bench) clips(t *testing.T, name string, dialogues int, length time.Duration) string {
	t.Helper()
	const rate = 24000
	folder := filepath.Join(b.dir, name+"-clips")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for d := range dialogues {
		tone := audio.PCM{Rate: rate, Samples: make([]float32, int(length.Seconds()*rate))}
		for i := range tone.Samples {
			tone.Samples[i] = float32(0.1 * math.Sin(2*math.Pi*float64(200+d)*float64(i)/rate))
		}
		file, err := os.Create(filepath.Join(folder, fmt.Sprintf("%s-%05d_clip.wav", name, d+1)))
		if err != nil {
			t.Fatal(err)
		}
		if err := audio.EncodeWAV(file, tone, nil); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// simulated are the flags of an evaluation that asks the simulated providers.
var simulated = []string{"--synthesizer", "elevenlabs", "--detector", "chat", "--accelerator", "bench", "--pool", "chat", "--quality", "off"}

// measure runs an evaluation to its end.
func (b *bench) measure(t *testing.T, id string, args ...string) measured {
	t.Helper()
	before := b.processes(t)
	cmd := exec.Command(devstacktest.Binary(t, "starter"), append([]string{"evaluate", "--json", "--id", id}, args...)...)
	var out bytes.Buffer
	var progress lastLine
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = b.env, b.dir, &out, &progress
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for over := false; !over; {
		select {
		case err := <-done:
			if over = true; err != nil {
				t.Fatalf("starter: %v: %s", err, progress.text())
			}
		case <-time.After(30 * time.Second):
			b.printMemory(t, cmd.Process.Pid, progress.text())
		}
	}
	m := measured{report: decode(t, out.String())}
	if m.report.Pending != 0 || len(m.report.Failures) != 0 {
		t.Errorf("%d pending, failures %v", m.report.Pending, m.report.Failures)
	}
	m.used = b.processes(t)
	for i, u := range m.used {
		for _, b := range before {
			if b.name == u.name {
				m.used[i].cpu -= b.cpu
			}
		}
	}
	m.used = append(m.used, ended("starter", cmd.ProcessState))
	temporal, err := client.Dial(client.Options{HostPort: b.stack.Temporal, Namespace: b.stack.Namespace, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer temporal.Close()
	m.size = b.tree(t, temporal, id)
	m.wall, m.checks = took(t, temporal, id)
	m.activity = m.size.perDialogue(m.size.dialogues.Activities) * float64(m.report.Items) / m.wall.Seconds()
	return m
}

// lastLine keeps the last whole line that was written to it.
type lastLine struct {
	mu   sync.Mutex
	line string
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		l.line = strings.TrimSpace(line)
	}
	return len(p), nil
}

func (l *lastLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.line
}

// printMemory shows what is resident while an evaluation goes on.
func (b *bench) printMemory(t *testing.T, starter int, progress string) {
	t.Helper()
	line := time.Now().Format("15:04:05") + " MiB resident:"
	for _, u := range append(b.processes(t), usageOf(t, "starter", starter)) {
		if u.now == 0 {
			continue
		}
		line += fmt.Sprintf(" %s %d,", u.name, u.now>>20)
	}
	fmt.Println(line, progress)
}

// took is how long the evaluation's workflow was open, over all its runs, and how long
// of that before its first chunk.
func took(t *testing.T, c client.Client, id string) (wall, checks time.Duration) {
	t.Helper()
	var first, chunk, last time.Time
	for run := ""; ; {
		events := historyOf(t, c, id, run)
		if last.IsZero() {
			last = events[len(events)-1].GetEventTime().AsTime()
		}
		first = events[0].GetEventTime().AsTime()
		for _, event := range slices.Backward(events) {
			if event.GetStartChildWorkflowExecutionInitiatedEventAttributes() != nil {
				chunk = event.GetEventTime().AsTime()
			}
		}
		if run = events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); run == "" {
			return last.Sub(first), chunk.Sub(first)
		}
	}
}

// ideal is the shortest that the evaluation could take with these providers: the
// slower one's calls, one after the other in its slots, and one dialogue's own chain
// of calls, as nothing overlaps with the first and the last.
func (b *bench) ideal(m measured) time.Duration {
	const chain = 4 // prepare, a pass, tactics, quote
	used := m.report.Usage
	speech := b.speech * time.Duration(used.TurnsMade) / speechSlots
	detect := b.detect * time.Duration(used.Questions) / detectSlots
	return max(speech, detect) + b.speech + chain*b.detect
}

// efficiency is the ideal time over the wall time.
func (b *bench) efficiency(m measured) float64 { return b.ideal(m).Seconds() / m.wall.Seconds() }

// print writes what an evaluation took.
func (m measured) print(to io.Writer) {
	n, wall := float64(m.report.Items), m.wall.Seconds()
	fmt.Fprintf(to, "%d dialogues in %.1f s, of which checks %.1f s: %.2f dialogues/s, %.1f activities/s\n", m.report.Items, wall, m.checks.Seconds(), n/wall, m.activity)
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "process\tCPU s\tCPU ms a dialogue\tcores\tpeak MiB\t")
	var sum time.Duration
	for _, u := range m.used {
		if sum += u.cpu; u.cpu < 50*time.Millisecond && u.peak == 0 {
			continue // no engine ran
		}
		fmt.Fprintf(table, "%s\t%.1f\t%.1f\t%.2f\t%d\t\n", u.name, u.cpu.Seconds(), 1000*u.cpu.Seconds()/n, u.cpu.Seconds()/wall, u.peak>>20)
	}
	fmt.Fprintf(table, "all\t%.1f\t%.1f\t%.2f\t\t\n", sum.Seconds(), 1000*sum.Seconds()/n, sum.Seconds()/wall)
	table.Flush()
	tr := m.size
	fmt.Fprintf(to, "largest histories: Evaluate %d events, %d bytes (%d runs); chunk %d, %d; dialogue %d, %d; largest payload %d bytes\n",
		tr.evaluate.events, tr.evaluate.bytes, tr.runs, tr.chunk.events, tr.chunk.bytes, tr.dialogue.events, tr.dialogue.bytes,
		max(tr.evaluate.payload, tr.chunk.payload, tr.dialogue.payload))
	d := tr.dialogues
	fmt.Fprintf(to, "Temporal actions a dialogue: %.2f (starts %.2f, activities %.2f, local activities %.2f, attributes %.2f, signals %.2f, timers %.2f) + %.3f retries; of Evaluate and chunks together %d + %d retries; without queries and heartbeats\n\n",
		tr.perDialogue(d.Total()), tr.perDialogue(d.Starts), tr.perDialogue(d.Activities), tr.perDialogue(d.LocalActivities), tr.perDialogue(d.Attributes),
		tr.perDialogue(d.Signals), tr.perDialogue(d.Timers), tr.perDialogue(d.Retries), tr.above.Total(), tr.above.Retries)
}
