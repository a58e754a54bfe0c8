package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

func TestParse(t *testing.T) {
	s, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.roles, allRoles) || s.synthesizer != "flite" || s.accelerator != "cpu" || s.pool != "baseline" {
		t.Errorf("defaults %+v", s)
	}
	if s.account != (account{name: "flite", lease: 30 * time.Second}) {
		t.Errorf("the default account is %+v", s.account)
	}
	s, err = parse([]string{"--roles", "speech,audio", "--synthesizer", "rhvoice", "--speech-calls", "3"}, io.Discard)
	if err != nil || !slices.Equal(s.roles, []string{"speech", "audio"}) || s.synthesizer != "rhvoice" || s.concurrency.speech != 3 {
		t.Errorf("settings %+v, %v", s, err)
	}
}

// A wrong flag gets one line that names the valid values, and exit code 2.
func TestWrongFlags(t *testing.T) {
	for _, test := range []struct {
		args string
		want string
	}{
		{"--roles painter", `unknown role "painter": use all, or some of workflows, speech, audio, detect`},
		{"--roles all,speech", `unknown role "all"`},
		{"--synthesizer parrot", `unknown engine "parrot": use one of elevenlabs, flite, rhvoice`},
		{"--speech-calls 0", "--speech-calls is 0, must be at least 1"},
		{"--audio-jobs -1", "--audio-jobs is -1"},
		{"--detect-calls 0", "--detect-calls is 0"},
		{"--speech-calls many", "invalid argument"},
		{"--speech-account A/B", `--speech-account: account "A/B": use 1 to 63`},
		{"--speech-ceiling -1", "--speech-ceiling is -1"},
		{"--speech-lease 5s", "--speech-lease: a lease of 5s: use 10s to 1m0s"},
		{"--no-such-flag", "unknown flag"},
		{"speech", `unexpected argument "speech"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(t.Context(), strings.Fields(test.args), func(string) (string, bool) { return "", false }, &out, &errOut)
			if code != 2 || !strings.Contains(errOut.String(), test.want) || out.Len() != 0 {
				t.Errorf("exit code %d, stdout %q, stderr %q; want 2, nothing, %q", code, out.String(), errOut.String(), test.want)
			}
			if lines := strings.Count(errOut.String(), "\n"); lines != 1 {
				t.Errorf("%d lines on stderr, want 1:\n%s", lines, errOut.String())
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, func(string) (string, bool) { return "", false }, &out, &errOut); code != 0 || errOut.Len() != 0 {
		t.Errorf("exit code %d, stderr %q", code, errOut.String())
	}
	for _, flag := range []string{"--roles", "--synthesizer", "--accelerator", "--pool", "--speech-account", "--speech-ceiling", "--speech-lease", "--speech-calls", "--audio-jobs", "--detect-calls"} {
		if !strings.Contains(out.String(), flag) {
			t.Errorf("the help leaves out %s:\n%s", flag, out.String())
		}
	}
}

// A worker without a key starts: its speech waits for a person, told what to set.
func TestElevenLabsWithoutKey(t *testing.T) {
	s, err := synthesizer("elevenlabs", config.ElevenLabs{})
	if err != nil {
		t.Fatal(err)
	}
	_, engine := s.Engine(t.Context())
	_, spoken := s.Synthesize(t.Context(), speech.Request{Text: "Hello."})
	for what, err := range map[string]error{"engine": engine, "check": s.Check(t.Context(), voice.Pool{}), "synthesize": spoken} {
		if fault.KindOf(err) != fault.Pause || !strings.Contains(err.Error(), "set SPEECHMANIP_ELEVENLABS_KEY for the workers of queue speech-elevenlabs") {
			t.Errorf("%s: %v (%s)", what, err, fault.KindOf(err))
		}
	}
	s, err = synthesizer("elevenlabs", config.ElevenLabs{URL: "http://127.0.0.1:1", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if engine, err := s.Engine(t.Context()); err != nil || !strings.Contains(engine.Version, "127.0.0.1:1") {
		t.Errorf("engine %+v, %v: another server than ElevenLabs' is another version", engine, err)
	}
}

func TestWrongEnvironment(t *testing.T) {
	var out, errOut bytes.Buffer
	code := run(t.Context(), nil, func(name string) (string, bool) {
		return "xml", name == "SPEECHMANIP_LOG_FORMAT"
	}, &out, &errOut)
	if code != 2 || !strings.Contains(errOut.String(), "SPEECHMANIP_LOG_FORMAT") {
		t.Errorf("exit code %d, stderr %q", code, errOut.String())
	}
}
