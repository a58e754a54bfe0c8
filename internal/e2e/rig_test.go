//go:build integration && linux

package e2e

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

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/devstacktest"
	"github.com/speechmanip/speechmanip/internal/objectstore/s3"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/secret"
)

// rig is a dev stack with the environment that starter and worker need.
type rig struct {
	stack *devstacktest.Stack
	env   []string
	dir   string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	stack := devstacktest.Start(t)
	r := &rig{stack: stack, dir: t.TempDir(), env: append(os.Environ(),
		"TEMPORAL_ADDRESS="+stack.Temporal,
		"SPEECHMANIP_S3_ENDPOINT="+stack.S3,
		"SPEECHMANIP_S3_ACCESS_KEY="+stack.AccessKey,
		"SPEECHMANIP_S3_SECRET_KEY="+stack.SecretKey,
		"SPEECHMANIP_UI="+stack.UI,
		"SPEECHMANIP_LOG_FORMAT=json",
	)}
	r.starter(t, "setup")
	return r
}

// starter runs the starter to its end; a non-zero exit fails the test.
func (r *rig) starter(t *testing.T, args ...string) string {
	t.Helper()
	out, errOut, err := r.try(t, args...)
	if err != nil {
		t.Fatalf("starter %s: %v\n%s%s", strings.Join(args, " "), err, out, errOut)
	}
	return out
}

func (r *rig) try(t *testing.T, args ...string) (out, errOut string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, devstacktest.Binary(t, "starter"), args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// evaluate runs an evaluation to its end and returns its report.
func (r *rig) evaluate(t *testing.T, args ...string) report.Report {
	t.Helper()
	return decode(t, r.starter(t, append([]string{"evaluate", "--json"}, args...)...))
}

func decode(t *testing.T, text string) report.Report {
	t.Helper()
	var built report.Report
	if err := json.Unmarshal([]byte(text), &built); err != nil {
		t.Fatalf("report is no JSON: %v\n%.500s", err, text)
	}
	return built
}

func (r *rig) archive(t *testing.T) archive.Archive {
	t.Helper()
	store, err := s3.New(t.Context(), s3.Config{
		Endpoint: r.stack.S3, Bucket: "speechmanip", PathStyle: true, Checksums: "when_supported",
		AccessKey: secret.Text(r.stack.AccessKey), SecretKey: secret.Text(r.stack.SecretKey),
	})
	if err != nil {
		t.Fatal(err)
	}
	return archive.Archive{Store: store}
}

// workerProcess is a worker with its log.
type workerProcess struct {
	cmd *exec.Cmd
	log string
}

func (r *rig) worker(t *testing.T, args ...string) *workerProcess {
	t.Helper()
	w := &workerProcess{log: filepath.Join(r.dir, "worker-"+time.Now().Format("150405.000000")+".log")}
	file, err := os.Create(w.log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w.cmd = exec.Command(devstacktest.Binary(t, "worker"), args...)
	w.cmd.Env, w.cmd.Dir = r.env, r.dir
	w.cmd.Stdout, w.cmd.Stderr = file, file
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if w.cmd.ProcessState == nil {
			_ = w.cmd.Process.Signal(syscall.SIGTERM) // it may have ended meanwhile
			_ = w.cmd.Wait()
		}
		if t.Failed() {
			data, _ := os.ReadFile(w.log)
			t.Logf("the end of %s:\n%s", w.log, data[max(0, len(data)-3000):])
		}
	})
	waitFor(t, time.Minute, "the worker", func() bool {
		data, err := os.ReadFile(w.log)
		return err == nil && bytes.Contains(data, []byte("worker ready"))
	})
	return w
}

// stop lets the worker finish what it does, and returns when it has ended.
func (w *workerProcess) stop(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}

// kill ends the worker as kill -9 does.
func (w *workerProcess) kill(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = w.cmd.Wait() // "signal: killed"
}

func waitFor(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if condition() {
			return
		}
	}
	t.Fatalf("%s: not within %s", what, limit)
}

// shared finds test data that is not part of the project, or skips.
func shared(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(full); err != nil {
		t.Skipf("real data is not here: %s", path)
	}
	return full
}
