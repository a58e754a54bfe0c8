package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/config"
)

func TestDrainExceedsPaidCalls(t *testing.T) {
	chat := map[string]string{config.EnvChatURL: "http://127.0.0.1:1"}
	for _, test := range []struct {
		name, args, drain string
		env               map[string]string
		want              string // "" is accepted
	}{
		{"free engines may be cut off", "--roles all", "0s", nil, ""},
		{"a turn", "--roles speech --synthesizer elevenlabs", "60s", nil, "too short for role speech --synthesizer elevenlabs: a paid call takes up to 1m0s"},
		{"a turn with time", "--roles speech --synthesizer elevenlabs", "61s", nil, ""},
		{"not this worker's role", "--roles audio --synthesizer elevenlabs", "1s", chat, ""},
		{"an answer", "--roles detect", "120s", chat, "too short for role detect with SPEECHMANIP_CHAT_URL: a paid call takes up to 2m0s"},
		{"an answer with time", "--roles detect", "121s", chat, ""},
		{"the longer of both", "--synthesizer elevenlabs", "90s", chat, "role speech --synthesizer elevenlabs and role detect with SPEECHMANIP_CHAT_URL: a paid call takes up to 2m0s"},
		{"the default", "--synthesizer elevenlabs", "", chat, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := parse(strings.Fields(test.args), &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load(func(name string) (string, bool) {
				if name == config.EnvDrain {
					return test.drain, test.drain != ""
				}
				value, ok := test.env[name] // and not this machine's
				return value, ok
			})
			if err != nil {
				t.Fatal(err)
			}
			err = checkDrain(s, cfg)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestDefaultDrain(t *testing.T) {
	if longest := max(activities.SynthesisLifetime, activities.DetectionLifetime); config.DefaultDrain < longest+10*time.Second {
		t.Errorf("the default of %s leaves no time to store a result after %s", config.DefaultDrain, longest)
	}
}

// A worker that would lose paid calls doesn't start: one line, and exit code 2.
func TestShortDrainIsRefused(t *testing.T) {
	var out, errOut bytes.Buffer
	code := run(t.Context(), []string{"--roles", "speech", "--synthesizer", "elevenlabs"}, func(name string) (string, bool) {
		if name == config.EnvDrain {
			return "10s", true
		}
		return "", false
	}, &out, &errOut)
	if code != 2 || strings.Count(errOut.String(), "\n") != 1 || !strings.Contains(errOut.String(), config.EnvDrain+"=10s is too short") {
		t.Errorf("exit code %d, stderr %q", code, errOut.String())
	}
}
