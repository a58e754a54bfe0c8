//go:build integration && linux

package e2e

import (
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// TestTakingTurns starts a small evaluation behind a large one on the same queues:
// it doesn't wait for the large one, and one of a higher priority passes both.
func TestTakingTurns(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	// One call at a time: what waits, waits on the detector's queue.
	queue, detection := r.slowChat(t, 100*time.Millisecond)
	r.worker(t, append(queue, "--roles", "workflows,speech,audio")...)
	r.worker(t, append(queue, "--roles", "detect", "--detect-calls", "1")...)
	c := r.temporal(t)
	defer c.Close()
	evaluate := func(id string, dialogues int, more ...string) {
		t.Helper()
		args := append([]string{"evaluate", "--id", id, "--detach", "--passes", "fresh", "--dataset", r.shortTurns(t, dialogues, 2)}, detection...)
		r.starter(t, append(args, more...)...)
	}

	evaluate("large", 26)
	waitFor(t, 2*time.Minute, "the large evaluation's calls to wait", func() bool {
		p := r.progress(t, c, "large")
		return p.Started == 26 && p.Done >= 1
	})
	evaluate("small", 3)
	r.ends(t, c, "small", 3)
	// All of the large one's dialogues have begun: in the order of their coming, the small
	// one's would end with the last of them.
	if p := r.progress(t, c, "large"); p.Done > 23 {
		t.Errorf("the small evaluation is complete when %d of the large one's 26 dialogues are", p.Done)
	} else {
		t.Logf("fairness: small is complete with large at %d of 26", p.Done)
	}

	evaluate("next", 6)
	evaluate("first", 6, "--priority", "1")
	r.ends(t, c, "first", 6)
	if p := r.progress(t, c, "next"); p.Done == 6 {
		t.Error("an evaluation of priority 3 was not behind one of priority 1")
	} else {
		t.Logf("priority: first is complete with next at %d of 6", p.Done)
	}
	for id, dialogues := range map[string]int{"large": 26, "next": 6} {
		r.ends(t, c, id, dialogues)
	}
}

// ends waits for an evaluation's dialogues, none of which may have failed.
func (r *rig) ends(t *testing.T, c client.Client, id string, dialogues int) {
	t.Helper()
	var p evaluation.Progress
	waitFor(t, 3*time.Minute, fmt.Sprintf("evaluation %s to end", id), func() bool {
		p = r.progress(t, c, id)
		return p.Done == dialogues
	})
	if p.Failed != 0 {
		t.Errorf("%s: %+v", id, p)
	}
}
