package pocketsphinx

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/recognize/recognizetest"
)

const said = "You never listen to me. After everything I did for you, this is how you repay me."

// speak returns said as flite speaks it.
func speak(tb testing.TB) audio.PCM {
	tb.Helper()
	for _, program := range []string{"flite", "pocketsphinx_continuous"} {
		if _, err := exec.LookPath(program); err != nil {
			tb.Skipf("%s is not installed: run infra/setup.sh", program)
		}
	}
	text, wav := filepath.Join(tb.TempDir(), "said.txt"), filepath.Join(tb.TempDir(), "said.wav")
	if err := os.WriteFile(text, []byte(said), 0o600); err != nil {
		tb.Fatal(err)
	}
	if out, err := exec.Command("flite", "-voice", "slt", "-f", text, "-o", wav).CombinedOutput(); err != nil {
		tb.Fatalf("flite: %v: %s", err, out)
	}
	data, err := os.ReadFile(wav)
	if err != nil {
		tb.Fatal(err)
	}
	clip, _, err := audio.Decode(data)
	if err != nil {
		tb.Fatal(err)
	}
	return clip
}

func TestConformance(t *testing.T) {
	clip := speak(t)
	newRecognizer := func(*testing.T) recognize.Recognizer { return New(Options{}) }
	recognizetest.Run(t, newRecognizer, clip, said)
}

// Times must count from the clip's start through all utterances, although the
// program drops the silence between them.
func TestTimesRunThroughUtterances(t *testing.T) {
	clip := speak(t)
	offset := clip.Seconds() + 6
	twice := append([]float32{}, clip.Samples...)
	twice = append(twice, make([]float32, 6*clip.Rate)...)
	twice = append(twice, clip.Samples...)
	got, err := New(Options{}).Recognize(t.Context(), audio.PCM{Rate: clip.Rate, Samples: twice})
	if err != nil {
		t.Fatal(err)
	}
	var starts []float64
	for _, w := range got.Words {
		if w.Text == "never" {
			starts = append(starts, w.Start)
		}
	}
	if len(starts) != 2 {
		t.Fatalf("heard %q %d times, want 2: %+v", "never", len(starts), got.Words)
	}
	if drift := starts[1] - starts[0] - offset; drift > .25 || drift < -.25 {
		t.Errorf("the second utterance is %.2f s off", drift)
	}
}

func TestRecognizeLeavesNoFile(t *testing.T) {
	clip := speak(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	if _, err := New(Options{}).Recognize(t.Context(), clip); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// fake installs a shell script as the recogniser, with a model of one file.
func fake(t *testing.T, script string) *Recognizer {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "recognizer")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"en-us", "en-us.lm.bin", "cmudict-en-us.dict"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return New(Options{Program: program, Model: dir, Timeout: 300 * time.Millisecond})
}

func TestFaults(t *testing.T) {
	second := audio.PCM{Rate: Rate, Samples: make([]float32, Rate)}
	tests := map[string]struct {
		recognizer *Recognizer
		clip       audio.PCM
		kind       fault.Kind
		want       string
	}{
		"no program": {New(Options{Program: "no-such-recognizer"}), second, fault.Permanent, "run infra/setup.sh"},
		"no model":   {New(Options{Program: "sh", Model: t.TempDir()}), second, fault.Permanent, "run infra/setup.sh"},
		"no rate":    {fake(t, "exit 0"), audio.PCM{Samples: second.Samples}, fault.Permanent, "0 Hz"},
		"fails":      {fake(t, "echo one >&2; echo 'FATAL: broken model' >&2; exit 1"), second, fault.Transient, "FATAL: broken model"},
		"hangs":      {fake(t, "exec sleep 60"), second, fault.Transient, "no transcript after"},
		"nonsense":   {fake(t, "echo hello 9.0 1.0 1.0"), second, fault.Permanent, "impossible times"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.recognizer.Recognize(context.Background(), test.clip)
			if err == nil || fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v of kind %s, want %q of kind %s", err, fault.KindOf(err), test.want, test.kind)
			}
		})
	}
}

func TestEngineOfAnotherProgram(t *testing.T) {
	one, err := fake(t, "exit 0").Engine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := fake(t, "exit 1").Engine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(one.Version, "sha256 ") || one.Version == other.Version {
		t.Errorf("versions %q and %q, want two hashes", one.Version, other.Version)
	}
}

func BenchmarkRecognizeClip(b *testing.B) {
	clip := speak(b)
	recognizer := New(Options{})
	for b.Loop() {
		if _, err := recognizer.Recognize(b.Context(), clip); err != nil {
			b.Fatal(err)
		}
	}
	perClip := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(perClip/clip.Seconds(), "s/s-of-audio")
}
