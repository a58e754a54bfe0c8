//go:build integration && linux

package devstacktest_test

import (
	"net/http"
	"testing"

	"github.com/speechmanip/speechmanip/internal/devstacktest"
)

// The stack answers at the same addresses after a kill and after a clean stop.
func TestKillAndRestart(t *testing.T) {
	stack := devstacktest.Start(t)
	ui, s3, temporal := stack.UI, stack.S3, stack.Temporal
	answers(t, stack)
	stack.Kill(t)
	if response, err := http.Get(s3); err == nil {
		response.Body.Close()
		t.Error("S3 answers after the kill")
	}
	stack.Restart(t)
	answers(t, stack)
	stack.Restart(t)
	answers(t, stack)
	if stack.UI != ui || stack.S3 != s3 || stack.Temporal != temporal {
		t.Errorf("moved from %s, %s, %s to %s, %s, %s", ui, s3, temporal, stack.UI, stack.S3, stack.Temporal)
	}
}

func answers(t *testing.T, stack *devstacktest.Stack) {
	t.Helper()
	for _, address := range []string{stack.UI, stack.S3} {
		response, err := http.Get(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		response.Body.Close()
	}
}
