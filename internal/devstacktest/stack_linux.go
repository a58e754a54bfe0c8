package devstacktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BinEnv names the environment variable that holds the folder of the built
// binaries. The Makefile sets it.
const BinEnv = "SPEECHMANIP_BIN"

const (
	startTimeout = 90 * time.Second
	stopTimeout  = 20 * time.Second
	pollEvery    = 20 * time.Millisecond
	logTail      = 4 << 10 // bytes of output shown when something fails
)

// Stack is a running dev stack with its own data folder. Its methods are for
// the test's goroutine.
type Stack struct {
	Temporal  string // host:port
	UI        string // URL
	S3        string // URL; path style, region us-east-1
	Namespace string
	PID       int
	AccessKey string // for S3
	SecretKey string

	data    string
	ready   string
	command *exec.Cmd
	output  *bytes.Buffer // read only once the process has ended
	ended   chan struct{} // closed when the process has ended
}

// Binary returns the path of a built binary. A missing one fails the test:
// integration tests never skip.
func Binary(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv(BinEnv)
	if folder == "" {
		t.Fatalf("%s is not set: run `make test`, or set it to the folder of the built binaries", BinEnv)
	}
	file, err := filepath.Abs(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		t.Fatalf("%s is not there: build it (`make build`)", file)
	}
	return file
}

// Start runs a dev stack on free ports with an empty data folder, returns when
// all of it answers, and stops it when the test ends.
func Start(t *testing.T) *Stack {
	t.Helper()
	folder := t.TempDir()
	s := &Stack{
		AccessKey: "marked-s3-access", // not the defaults: tests look for them where none must be
		SecretKey: "marked-s3-secret",
		data:      filepath.Join(folder, "data"),
		ready:     filepath.Join(folder, "ready.json"),
	}
	t.Cleanup(func() { s.stop(t) })
	s.run(t, "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0")
	return s
}

// S3Root is the folder of the stack's objects, files under their bucket and key.
func (s *Stack) S3Root() string { return filepath.Join(s.data, "s3") }

// Kill ends the stack as kill -9 does and returns when it is gone.
func (s *Stack) Kill(t *testing.T) {
	t.Helper()
	if err := s.command.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatalf("kill the dev stack: %v", err)
	}
	<-s.ended
}

// Restart runs the stack again, after Kill or from running (it is stopped
// then), on the same data and ports, and returns when all of it answers.
func (s *Stack) Restart(t *testing.T) {
	t.Helper()
	s.stop(t)
	s.run(t, s.Temporal, host(t, s.UI), host(t, s.S3))
}

func host(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatalf("the dev stack's address %q: %v", address, err)
	}
	return u.Host
}

func (s *Stack) run(t *testing.T, temporal, ui, s3 string) {
	t.Helper()
	if err := os.Remove(s.ready); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s.output = &bytes.Buffer{}
	s.command = exec.Command(Binary(t, "devstack"), "--data", s.data,
		"--temporal-addr", temporal, "--ui-addr", ui, "--s3-addr", s3, "--ready-file", s.ready)
	s.command.Stdout, s.command.Stderr = s.output, s.output
	s.command.Env = append(slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "DEVSTACK_")
	}), "DEVSTACK_S3_ACCESS_KEY="+s.AccessKey, "DEVSTACK_S3_SECRET_KEY="+s.SecretKey)
	// A test that panics or runs out of time has no cleanup.
	s.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.command.Start(); err != nil {
		t.Fatalf("start the dev stack: %v", err)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		_ = s.command.Wait() // its output and its absence tell
		close(ended)
	}()

	timeout := time.After(startTimeout)
	for {
		switch err := s.readReady(); {
		case err == nil:
			return
		case !errors.Is(err, fs.ErrNotExist):
			t.Fatalf("the dev stack's ready file: %v", err)
		}
		select {
		case <-s.ended:
			t.Fatalf("the dev stack ended before it was ready (%s):\n%s", s.command.ProcessState, s.tail())
		case <-timeout:
			t.Fatalf("the dev stack isn't ready after %s", startTimeout)
		case <-time.After(pollEvery):
		}
	}
}

func (s *Stack) readReady() error {
	data, err := os.ReadFile(s.ready)
	if err != nil {
		return err
	}
	var ready struct {
		Temporal  string
		UI        string
		S3        string
		Namespace string
		PID       int
	}
	if err := json.Unmarshal(data, &ready); err != nil {
		return err
	}
	if ready.Temporal == "" || ready.UI == "" || ready.S3 == "" {
		return fmt.Errorf("an address is missing: %s", data)
	}
	s.Temporal, s.UI, s.S3 = ready.Temporal, ready.UI, ready.S3
	s.Namespace, s.PID = ready.Namespace, ready.PID
	return nil
}

// stop ends the stack as SIGTERM does, by force where that takes too long.
func (s *Stack) stop(t *testing.T) {
	t.Helper()
	if s.ended == nil {
		return // it never started
	}
	_ = s.command.Process.Signal(syscall.SIGTERM) // fails when it has ended
	select {
	case <-s.ended:
	case <-time.After(stopTimeout):
		t.Errorf("the dev stack didn't stop within %s of SIGTERM", stopTimeout)
		_ = s.command.Process.Kill()
		<-s.ended
	}
	if t.Failed() {
		t.Logf("the dev stack's output (%s):\n%s", s.command.ProcessState, s.tail())
	}
}

func (s *Stack) tail() []byte {
	out := s.output.Bytes()
	return out[max(0, len(out)-logTail):]
}
