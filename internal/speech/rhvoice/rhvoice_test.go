package rhvoice

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/speech/speechtest"
	"github.com/speechmanip/speechmanip/internal/voice"
)

func pool(t *testing.T) voice.Pool {
	t.Helper()
	p, err := voice.BuiltIn("rhvoice")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func settings(key, value string) map[string]string {
	m := map[string]string{"voice": "slt", "rate": "100", "pitch": "100", "relabel_hz": "24000"}
	m[key] = value
	return m
}

// conformance runs the suite and then looks at what it may have left behind.
func conformance(t *testing.T, options Options) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Run("suite", func(t *testing.T) {
		speechtest.Run(t, speechtest.Subject{
			New:  func() speech.Synthesizer { return New(options) },
			Pool: pool(t),
			Wrong: []voice.Voice{
				{Slug: "unknown-voice", Params: settings("voice", "nobody")},
				{Slug: "voice-of-another-language", Params: settings("voice", "anna")},
				{Slug: "voice-as-option", Params: settings("voice", "-h")},
				{Slug: "unknown-param", Params: settings("stretch", "3")},
				{Slug: "rate-of-zero", Params: settings("rate", "0")},
				{Slug: "pitch-of-text", Params: settings("pitch", "high")},
			},
		})
	})
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left (%v)", len(left), err)
	}
	if _, err := os.Stat("owned"); err == nil {
		t.Error("a turn's text was run by a shell")
	}
}

func TestConformance(t *testing.T) {
	if _, err := exec.LookPath("RHVoice-test"); err != nil {
		t.Skip("RHVoice is not installed: " + install + " to test with it; TestConformanceOfFake runs without")
	}
	conformance(t, Options{})
}

// fake stands in for RHVoice where it is not installed. It answers as Debian's
// 1.8.0 does: version "none", and an unknown voice spoken without complaint. Its
// audio is noise made of the arguments and the text.
func fake(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"Slt", "Bdl", "Clb", "Alan"} {
		write("voices/"+strings.ToLower(name)+"/voice.info", "name="+name+"\nlanguage=English\ngender=male\n")
	}
	write("voices/anna/voice.info", "name=Anna\nlanguage=Russian\n")
	header := make([]byte, 44) // of a WAV of 24 kHz with 480,000 bytes of samples
	copy(header, "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	binary.LittleEndian.PutUint32(header[4:], 36+480000)
	binary.LittleEndian.PutUint32(header[24:], 24000)
	binary.LittleEndian.PutUint32(header[28:], 48000)
	copy(header[32:], "\x02\x00\x10\x00data")
	binary.LittleEndian.PutUint32(header[40:], 480000)
	wavHeader := write("header", string(header))
	return Options{
		Program: write("RHVoice-test", `#!/bin/sh
[ "$1" = --version ] && { printf '\nRHVoice-test  version: none\n\n'; exit; }
all="$*"
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
all="${all% -o *} $(cat)"
{ cat '`+wavHeader+`'; yes -- "$all" | head -c 480000; } > "$out"
`),
		Dpkg:   write("dpkg-query", "#!/bin/sh\nprintf 'rhvoice-english 1.2\\nlibrhvoice-core4 \\nlibrhvoice-core7 1.1\\n'\nexit 1\n"),
		Voices: filepath.Join(dir, "voices"),
	}
}

func TestConformanceOfFake(t *testing.T) { conformance(t, fake(t)) }

func TestVersionIsDebians(t *testing.T) {
	engine, err := New(fake(t)).Engine(context.Background())
	want := speech.Engine{Name: "rhvoice", Version: "librhvoice-core7 1.1, rhvoice-english 1.2, reading 1", Format: "wav_pcm16_mono"}
	if diff := cmp.Diff(want, engine); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestRelabels(t *testing.T) {
	s := New(fake(t))
	for _, v := range pool(t).Voices {
		got, err := s.Synthesize(context.Background(), speech.Request{Text: "Hello", Voice: v})
		if err != nil {
			t.Fatal(err)
		}
		if rate := binary.LittleEndian.Uint32(got.Audio[24:]); strconv.Itoa(int(rate)) != v.Params["relabel_hz"] {
			t.Errorf("voice %s has sample rate %d Hz, want %s", v.Slug, rate, v.Params["relabel_hz"])
		}
	}
}

func TestMissing(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"program": func(o *Options) { o.Program = "no-such-RHVoice-test" },
		"voices":  func(o *Options) { o.Voices = t.TempDir() },
		"dpkg":    func(o *Options) { o.Dpkg = "no-such-dpkg-query" },
	} {
		options := fake(t)
		change(&options)
		err := New(options).Check(context.Background(), pool(t))
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Permanent || !strings.Contains(f.Hint, "rhvoice-english") {
			t.Errorf("no %s: error %v, want a permanent fault that names the packages", name, err)
		}
	}
	options := fake(t)
	options.Dpkg = "true"
	var f *fault.Error
	if _, err := New(options).Engine(context.Background()); !errors.As(err, &f) || f.Code != "engine_unknown" {
		t.Errorf("no version anywhere: %v", err)
	}
}
