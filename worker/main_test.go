package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	s, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.roles, allRoles) || s.synthesizer != "flite" || s.accelerator != "cpu" || s.pool != "baseline" {
		t.Errorf("defaults %+v", s)
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
		{"--synthesizer parrot", `unknown engine "parrot": use one of flite, rhvoice`},
		{"--speech-calls 0", "--speech-calls is 0, must be at least 1"},
		{"--audio-jobs -1", "--audio-jobs is -1"},
		{"--detect-calls 0", "--detect-calls is 0"},
		{"--speech-calls many", "invalid argument"},
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
	for _, flag := range []string{"--roles", "--synthesizer", "--accelerator", "--pool", "--speech-calls", "--audio-jobs", "--detect-calls"} {
		if !strings.Contains(out.String(), flag) {
			t.Errorf("the help leaves out %s:\n%s", flag, out.String())
		}
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
