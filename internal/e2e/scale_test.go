//go:build integration && linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/simulator/chat"
)

// scale skips unless measurements are asked for: they take minutes, and a machine
// that does nothing else.
func scale(t *testing.T) {
	t.Helper()
	if os.Getenv("SPEECHMANIP_SCALE") == "" {
		t.Skip("make bench-scale runs it")
	}
}

// wanted is how many dialogues are asked for, or usual.
func wanted(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("SPEECHMANIP_SCALE_DIALOGUES")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestScaleEfficiency measures how close an evaluation comes to what its providers
// allow, and at which rate of activities orchestration begins to cost.
func TestScaleEfficiency(t *testing.T) {
	scale(t)
	const dialogues, turns = 100, 6
	for i, factor := range []time.Duration{1, 2, 4, 8} {
		b := newBench(t, 1500*time.Millisecond/factor, 600*time.Millisecond/factor, nil, "workflows", "speech,audio", "detect")
		m := b.measure(t, fmt.Sprintf("efficiency-%d", factor), append(simulated, "--dataset", b.dialogues(t, "efficiency", dialogues, turns))...)
		fmt.Printf("speech %s with %d slots, detector %s with %d: efficiency %.3f (ideal %.1f s)\n", b.speech, speechSlots, b.detect, detectSlots, b.efficiency(m), b.ideal(m).Seconds())
		m.print(os.Stdout)
		if i == 0 && b.efficiency(m) < 0.9 {
			t.Errorf("efficiency %.3f, want at least 0.90", b.efficiency(m))
		}
		if b.efficiency(m) < 0.9 {
			return
		}
	}
}

// TestScaleCeiling measures how many dialogues a second are judged where nothing
// waits for a provider.
func TestScaleCeiling(t *testing.T) {
	scale(t)
	dialogues := wanted(t, 200)
	length := 10 * time.Second
	b := newBench(t, 0, 0, nil, "workflows", "audio", "detect")
	m := b.measure(t, "ceiling", append(simulated, "--dataset", b.dialogues(t, "ceiling", dialogues, 6), "--clips", b.clips(t, "ceiling", dialogues, length))...)
	fmt.Printf("providers that answer at once, clips of %s present\n", length)
	m.print(os.Stdout)
	if rate := float64(dialogues) / m.wall.Seconds(); rate < 4 {
		t.Errorf("%.2f dialogues a second, want at least 4", rate)
	}
}

// TestScaleLarge evaluates as many dialogues as are asked for, each as cheaply as
// there is, and looks at what must not grow with them.
func TestScaleLarge(t *testing.T) {
	scale(t)
	dialogues := wanted(t, 200)
	b := newBench(t, 0, 0, sayNo, "workflows", "audio", "detect")
	m := b.measure(t, "large", append(simulated, "--dataset", b.dialogues(t, "large", dialogues, 2), "--modality", "text", "--votes", "analytic")...)
	m.print(os.Stdout)
	for _, limit := range []struct {
		what      string
		got, most int
	}{
		{"events of Evaluate", m.size.evaluate.events, 2000},
		{"bytes of Evaluate", m.size.evaluate.bytes, 1 << 20},
		{"events of a dialogue beyond 6 a turn", m.size.perTurn, 100},
		{"bytes of a payload", max(m.size.evaluate.payload, m.size.chunk.payload, m.size.dialogue.payload), 64 << 10},
	} {
		if limit.got > limit.most {
			t.Errorf("%s: %d, want at most %d", limit.what, limit.got, limit.most)
		}
	}
	const mostMemory = 300 << 20
	for _, u := range m.used {
		if (u.name == "starter" || strings.HasPrefix(u.name, "worker")) && u.peak > mostMemory {
			t.Errorf("%s: %d MiB, want at most %d", u.name, u.peak>>20, mostMemory>>20)
		}
	}
}

// TestScaleCorpus renders and judges a whole dataset with what a machine has without a
// key and a GPU: flite, composition, a baseline that reads the clip's length.
func TestScaleCorpus(t *testing.T) {
	dataset := os.Getenv("SPEECHMANIP_SCALE_CORPUS")
	if dataset == "" {
		t.Skip("SPEECHMANIP_SCALE_CORPUS names a dataset to render whole")
	}
	b := &bench{rig: newRig(t)}
	b.start(t, "all")
	m := b.measure(t, "corpus", "--dataset", dataset, "--quality", "off", "--detector", "baseline-duration")
	m.print(os.Stdout)
	folders, err := os.ReadDir(filepath.Join(b.stack.S3Root(), "speechmanip"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		bytes, files := bytesIn(t, filepath.Join(b.stack.S3Root(), "speechmanip", folder.Name()))
		fmt.Printf("S3 %s: %d objects, %.1f MB\n", folder.Name(), files, float64(bytes)/1e6)
	}
	databases, err := filepath.Glob(filepath.Join(b.stack.S3Root(), "..", "temporal.db*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range databases {
		bytes, _ := bytesIn(t, file)
		fmt.Printf("Temporal %s: %.1f MB\n", filepath.Base(file), float64(bytes)/1e6)
	}
}

// sayNo answers the decision with the option that stands for NO.
func sayNo(p chat.Prompt) map[string]float64 {
	if !strings.Contains(p.Question, "(A) ") {
		return nil // not the decision
	}
	return map[string]float64{"B": 9, "A": 1}
}
