package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"go.temporal.io/sdk/client"
)

// asDevstack makes the test binary be devstack, so that the tests run the
// real program without linking it a second time.
const asDevstack = "DEVSTACK_TEST_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asDevstack) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is a devstack that runs.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
	ready          ready
}

// launch starts devstack with args and does not wait.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), asDevstack+"=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// start launches devstack on data and waits until it is ready. Without
// addresses in args it takes free ports.
func start(t *testing.T, data string, args ...string) *process {
	t.Helper()
	readyFile := filepath.Join(t.TempDir(), "ready.json")
	args = append([]string{"--data", data, "--ready-file", readyFile,
		"--temporal-addr", "127.0.0.1:0", "--ui-addr", "127.0.0.1:0", "--s3-addr", "127.0.0.1:0"}, args...)
	p := launch(t, args...)
	deadline := time.After(60 * time.Second)
	for {
		if b, err := os.ReadFile(readyFile); err == nil {
			if err := json.Unmarshal(b, &p.ready); err != nil {
				t.Fatalf("ready file %q: %v", b, err)
			}
			return p
		}
		select {
		case <-p.ended:
			t.Fatalf("devstack ended before it was ready: %s", p.stderr.String())
		case <-deadline:
			t.Fatal("devstack was not ready after 60 s")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// at are the flags that put devstack where p was.
func (p *process) at() []string {
	return []string{
		"--temporal-addr", p.ready.Temporal,
		"--ui-addr", strings.TrimPrefix(p.ready.UI, "http://"),
		"--s3-addr", strings.TrimPrefix(p.ready.S3, "http://"),
	}
}

// signal sends sig and waits for the end; it returns the exit code, -1 for a kill.
func (p *process) signal(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	return p.wait(t)
}

func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(10 * time.Second):
		t.Fatal("devstack did not end within 10 s")
		return 0
	}
}

// refused runs devstack to its end and checks its exit code and that stderr
// is one line that holds all of want.
func refused(t *testing.T, code int, args []string, want ...string) {
	t.Helper()
	p := launch(t, args...)
	if got := p.wait(t); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	message := p.stderr.String()
	if strings.Count(message, "\n") != 1 || !strings.HasPrefix(message, "devstack: ") {
		t.Errorf("stderr is not one line of devstack's: %q", message)
	}
	for _, w := range want {
		if !strings.Contains(message, w) {
			t.Errorf("stderr %q lacks %q", message, w)
		}
	}
	if p.stdout.Len() > 0 {
		t.Errorf("stdout %q, want nothing", p.stdout.String())
	}
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func (p *process) temporal(t *testing.T) client.Client {
	t.Helper()
	c, err := client.DialContext(testContext(t), client.Options{HostPort: p.ready.Temporal, Namespace: p.ready.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (p *process) s3() *s3.Client { return p.s3With("devstack-secret") }

func (p *process) s3With(secret string) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(p.ready.S3),
		UsePathStyle: true,
		Region:       s3Region,
		Credentials:  credentials.NewStaticCredentialsProvider("devstack", secret, ""),
	})
}
