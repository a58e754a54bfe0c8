package flite

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/speech/speechtest"
	"github.com/speechmanip/speechmanip/internal/voice"
)

func needFlite(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("flite"); err != nil {
		t.Skip("flite is not installed: run infra/setup.sh to test with it")
	}
}

func pool(t *testing.T) voice.Pool {
	t.Helper()
	p, err := voice.BuiltIn("flite")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func settings(pairs ...string) map[string]string {
	m := map[string]string{"voice": "slt", "duration_stretch": "1", "relabel_hz": "16000"}
	for i := 0; i < len(pairs); i += 2 {
		if m[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
			delete(m, pairs[i])
		}
	}
	return m
}

func TestConformance(t *testing.T) {
	needFlite(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Run("suite", func(t *testing.T) {
		speechtest.Run(t, speechtest.Subject{
			New:  func() speech.Synthesizer { return New("") },
			Pool: pool(t),
			Wrong: []voice.Voice{
				{Slug: "unknown-voice", Params: settings("voice", "nobody")},
				{Slug: "voice-as-option", Params: settings("voice", "-lv")},
				{Slug: "voice-file", Params: settings("voice", "/tmp/some.flitevox")},
				{Slug: "no-voice", Params: settings("voice", "")},
				{Slug: "unknown-param", Params: settings("pitch", "3")},
				{Slug: "no-rate", Params: settings("relabel_hz", "")},
				{Slug: "rate-of-zero", Params: settings("relabel_hz", "0")},
				{Slug: "fraction-rate", Params: settings("relabel_hz", "16000.5")},
				{Slug: "stretch-of-text", Params: settings("duration_stretch", "1e0")},
				{Slug: "f0-not-a-number", Params: settings("int_f0_target_mean", "NaN")},
			},
		})
	})
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left (%v)", len(left), err)
	}
	if _, err := os.Stat("owned"); err == nil {
		t.Error("a turn's text was run by a shell")
	}
}

// The six voices must be six speakers to a listener: each pair differs in the
// pitch or in the pace of the same sentence, by 3% at least, and the sample rate
// carries each one's formant shift.
func TestVoicesDiffer(t *testing.T) {
	needFlite(t)
	type sound struct {
		slug        string
		f0, seconds float64
	}
	var sounds []sound
	s := New("")
	for _, v := range pool(t).Voices {
		got, err := s.Synthesize(context.Background(), speech.Request{Text: "You were always going to leave me, weren't you, Emily?", Voice: v})
		if err != nil {
			t.Fatal(err)
		}
		rate := int(binary.LittleEndian.Uint32(got.Audio[24:]))
		if strconv.Itoa(rate) != v.Params["relabel_hz"] || int(binary.LittleEndian.Uint32(got.Audio[28:])) != 2*rate {
			t.Errorf("voice %s: the header's rate is %d Hz, want %s", v.Slug, rate, v.Params["relabel_hz"])
		}
		samples := make([]float64, (len(got.Audio)-44)/2)
		for i := range samples {
			samples[i] = float64(int16(binary.LittleEndian.Uint16(got.Audio[44+2*i:])))
		}
		sounds = append(sounds, sound{v.Slug, medianF0(samples, rate), float64(len(samples)) / float64(rate)})
	}
	for i, a := range sounds {
		t.Logf("%s: median F0 %.0f Hz, %.2f s", a.slug, a.f0, a.seconds)
		for _, b := range sounds[:i] {
			if math.Abs(math.Log(a.f0/b.f0)) < 0.03 && math.Abs(math.Log(a.seconds/b.seconds)) < 0.03 {
				t.Errorf("voices %s and %s are alike: F0 %.0f and %.0f Hz, %.2f and %.2f s", a.slug, b.slug, a.f0, b.f0, a.seconds, b.seconds)
			}
		}
	}
}

// medianF0 is the median over voiced frames of 40 ms of the lag with the highest
// normalised autocorrelation between 60 and 350 Hz, in Hz.
func medianF0(samples []float64, rate int) float64 {
	var found []float64
	frame := rate / 25
	shortest, longest := rate/350, rate/60
	for start := 0; start+frame+longest < len(samples); start += frame {
		best, bestLag := 0.0, 0
		for lag := shortest; lag <= longest; lag++ {
			var cross, a, b float64
			for i := start; i < start+frame; i++ {
				cross += samples[i] * samples[i+lag]
				a += samples[i] * samples[i]
				b += samples[i+lag] * samples[i+lag]
			}
			if r := cross / math.Sqrt(a*b+1); r > best*1.02 { // a multiple of the period must be clearly better
				best, bestLag = r, lag
			}
		}
		if best > 0.8 {
			found = append(found, float64(rate)/float64(bestLag))
		}
	}
	if len(found) == 0 {
		return 0
	}
	slices.Sort(found)
	return found[len(found)/2]
}

func TestReadable(t *testing.T) {
	for text, want := range map[string]string{
		"Hm, shh! psst": "hum, shush! pist", "PST and MM": "PST and MM", "hello mm-hm": "hello hum-hum", "shelf": "shelf",
	} {
		if got := readable(text); got != want {
			t.Errorf("readable(%q) = %q, want %q", text, got, want)
		}
	}
}

// fake writes a program that answers like flite and then does body when it has
// to speak; "$out" is the file to write.
func fake(t *testing.T, body string) *Synthesizer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flite")
	script := `#!/bin/sh
case "$1" in
--version) echo "  version: flite-9.9-test Jan 2000 (http://cmuflite.org)"; exit ;;
-lv) echo "Voices available: slt awb rms "; exit ;;
esac
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
` + body + "\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return New(path)
}

func TestBrokenPrograms(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       fault.Kind
		code, want string
	}{
		{"no file", "exit 0", fault.Transient, "audio_broken", "no audio"},
		{"no WAV", `echo hello > "$out"`, fault.Transient, "audio_broken", "no plain WAV"},
		{"fails", "echo out of wind >&2; exit 3", fault.Transient, "engine_failed", "out of wind"},
		{"dies", "kill -9 $$", fault.Transient, "engine_failed", "killed"},
	} {
		_, err := fake(t, c.body).Synthesize(context.Background(), speech.Request{Text: "Hello", Voice: pool(t).Voices[0]})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != c.kind || f.Code != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one of kind %s and code %s that says %q", c.name, err, c.kind, c.code, c.want)
		}
	}
}

func TestVersionOfTheProgram(t *testing.T) {
	engine, err := fake(t, "exit 0").Engine(context.Background())
	if want := "9.9-test Jan 2000, reading 1"; err != nil || engine.Version != want {
		t.Errorf("version %q (%v), want %q", engine.Version, err, want)
	}
}

func TestMissingAndForeignPrograms(t *testing.T) {
	_, err := New("no-such-flite").Engine(context.Background())
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Permanent || f.Code != "engine_missing" || !strings.Contains(f.Hint, "infra/setup.sh") {
		t.Errorf("a missing program gives %#v, want a permanent fault that says how to install it", err)
	}
	if err := New("/no/such/flite").Check(context.Background(), pool(t)); !errors.As(err, &f) || f.Code != "engine_missing" {
		t.Errorf("a missing path gives %v", err)
	}
	if _, err := New("true").Engine(context.Background()); !errors.As(err, &f) || f.Kind != fault.Permanent || f.Code != "engine_unknown" {
		t.Errorf("a program that is not flite gives %v", err)
	}
}

// A call that is cancelled half way ends at once and leaves no process behind.
func TestCancelKillsTheProgram(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	s := fake(t, "echo $$ > "+pidFile+"; exec sleep 600")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := s.Synthesize(ctx, speech.Request{Text: "Hello", Voice: pool(t).Voices[0]})
		done <- err
	}()
	var pid int
	for pid == 0 { // the test's own deadline bounds this
		text, _ := os.ReadFile(pidFile)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call gives %v", err)
	}
	if process, err := os.FindProcess(pid); err == nil && process.Signal(syscall.Signal(0)) == nil {
		t.Error("the program still runs")
	}
}
