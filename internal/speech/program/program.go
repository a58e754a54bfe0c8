// Package program runs speech engines that are programs on this machine: text
// in, one checked WAV file out. The adapters for such engines share it.
package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
)

// A call that takes longer hangs: engines render a turn of the longest text
// allowed in a few seconds.
const callTimeout = 2 * time.Minute

// MaxCharacters is the longest text of one turn. It bounds time and memory.
const MaxCharacters = 10_000

// Engine is a speech engine's program.
type Engine struct {
	Name    string // of the synthesizer, for errors
	Path    string // of the program, or its name to be found on PATH
	Install string // what a person does when the program is missing
}

// Output runs the program and returns what it prints on stdout, for questions
// such as its version. The exit status doesn't matter (flite --version exits 1):
// look at the answer. A missing program is a Permanent fault.
func (e Engine) Output(ctx context.Context, args ...string) (string, error) {
	out, err := e.run(ctx, "", args)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		err = nil
	}
	return string(out), err
}

// Files are the paths that one rendering uses, in a folder of its own.
type Files struct {
	Text  string // holds the text and a final newline
	Audio string // where the program has to write its WAV file
}

// Render runs the program with the arguments that args returns, the text on its
// stdin and in a file, and returns the file it writes, which may be empty. The
// files are gone afterwards.
func (e Engine) Render(ctx context.Context, text string, args func(Files) []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "speech-"+e.Name+"-")
	if err != nil {
		return nil, e.fault(fault.Transient, "temp_dir", err)
	}
	defer os.RemoveAll(dir)
	files := Files{Text: filepath.Join(dir, "in.txt"), Audio: filepath.Join(dir, "out.wav")}
	if err := os.WriteFile(files.Text, []byte(text+"\n"), 0o600); err != nil {
		return nil, e.fault(fault.Transient, "temp_file", err)
	}
	if _, err := e.run(ctx, text+"\n", args(files)); err != nil {
		return nil, err
	}
	audio, err := os.ReadFile(files.Audio)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // some engines write none when they have nothing to say
	}
	if err != nil {
		return nil, e.fault(fault.Transient, "temp_file", err)
	}
	return audio, nil
}

// run starts the program without a shell and waits for it.
func (e Engine) run(ctx context.Context, stdin string, args []string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	cmd := exec.CommandContext(limited, e.Path, args...)
	cmd.WaitDelay = 2 * time.Second // for pipes that a killed program leaves open
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr head
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = e.fault(fault.Transient, "cancelled", ctx.Err())
	case limited.Err() != nil:
		err = e.fault(fault.Transient, "timeout", fmt.Errorf("no result after %s", callTimeout))
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		err = &fault.Error{
			Kind: fault.Permanent, Op: "run " + e.Name, Code: "engine_missing",
			Err: fmt.Errorf("program %q is not installed", e.Path), Hint: e.Install,
		}
	default:
		if said := strings.TrimSpace(stderr.String()); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		err = e.fault(fault.Transient, "engine_failed", err)
	}
	return stdout.Bytes(), err
}

func (e Engine) fault(kind fault.Kind, code string, err error) error {
	return &fault.Error{Kind: kind, Op: "run " + e.Name, Code: code, Err: err}
}

// head keeps the first bytes that are written to it and takes the rest for
// written, so that a chatty program neither blocks nor fills the memory.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	const most = 16 << 10
	if room := most - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
