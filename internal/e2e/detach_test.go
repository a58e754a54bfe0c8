//go:build integration && linux

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/devstacktest"
)

// TestInterruptDetaches presses Ctrl-C in evaluate: the evaluation goes on, and
// watch comes back to it.
func TestInterruptDetaches(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	cmd := exec.Command(devstacktest.Binary(t, "starter"), "evaluate", "--id", "left", "--limit", "2", "--modality", "text")
	cmd.Env, cmd.Dir = r.env, r.dir
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Without a worker it can't end by itself.
	waitFor(t, time.Minute, "the evaluation to begin", func() bool {
		status, _, err := r.try(t, "status", "left")
		return err == nil && strings.Contains(status, "running")
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(errOut.String(), "detached") || !strings.Contains(errOut.String(), "starter watch left") {
		t.Errorf("%v, stdout %q, stderr %q", err, out.String(), errOut.String())
	}
	r.worker(t)
	if built := decode(t, r.starter(t, "watch", "left", "--json")); built.N != 2 {
		t.Errorf("n %d", built.N)
	}
}
