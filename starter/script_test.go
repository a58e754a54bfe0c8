package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary is the starter when a script runs it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"starter": main})
}

// TestScripts runs testdata/script: what an operator types, and what comes back
// on which stream with which exit code. The scripts see no variable of the
// environment that they don't set.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails":   fails,
			"oneline": oneLine,
			"crlf":    rewrite(func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) }),
			"bom":     rewrite(func(text []byte) []byte { return append([]byte("\xef\xbb\xbf"), text...) }),
		},
	})
}

// fails CODE COMMAND... runs a command that must end with that exit code.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != want {
		ts.Fatalf("ended with %v, want exit code %d", err, want)
	}
}

// oneline: the last command wrote exactly one line to stderr, under its own
// name, and nothing to stdout.
func oneLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: oneline")
	}
	if stdout := ts.ReadFile("stdout"); stdout != "" {
		ts.Fatalf("stdout is not empty: %q", stdout)
	}
	stderr := ts.ReadFile("stderr")
	if !strings.HasPrefix(stderr, "starter: ") || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
		ts.Fatalf("stderr is not one line of the starter: %q", stderr)
	}
}

// rewrite makes a command that changes a file's bytes.
func rewrite(change func([]byte) []byte) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: crlf FILE or bom FILE")
		}
		path := ts.MkAbs(args[0])
		text, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, change(text), 0o644))
	}
}
