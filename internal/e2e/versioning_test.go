//go:build integration && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
)

// ranOn says which build of the workers a workflow ran on last, and how it is bound
// to it.
func ranOn(t *testing.T, c client.Client, id string) (build string, behaviour enumspb.VersioningBehavior) {
	t.Helper()
	described, err := c.DescribeWorkflow(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	info := described.RawResponse.GetWorkflowExecutionInfo().GetVersioningInfo()
	return info.GetDeploymentVersion().GetBuildId(), info.GetBehavior()
}

// ownQueue counts a workflow's activities on queues of one worker, and those that no
// worker took in time.
func ownQueue(t *testing.T, c client.Client, id string) (own, late int) {
	t.Helper()
	events := c.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(event.GetActivityTaskScheduledEventAttributes().GetTaskQueue().GetName(), "@") {
			own++
		}
		if event.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT {
			late++
		}
	}
	return own, late
}

// progress is the evaluation's own.
func (r *rig) progress(t *testing.T, c client.Client, id string) evaluation.Progress {
	t.Helper()
	value, err := c.QueryWorkflow(t.Context(), id, "", evaluation.QueryProgress)
	if err != nil {
		t.Fatal(err)
	}
	var p evaluation.Progress
	if err := value.Get(&p); err != nil {
		t.Fatal(err)
	}
	return p
}

// slowChat is a simulated chat server that takes its time, in the rig's environment.
// It returns the flags of its queue, for worker and starter, and the starter's others.
func (r *rig) slowChat(t *testing.T, latency time.Duration) (queue, detection []string) {
	t.Helper()
	server := httptest.NewServer(chat.New(chat.Options{Dialect: chat.Llama, Model: "tiny", Latency: latency}))
	t.Cleanup(server.Close)
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+server.URL)
	queue = []string{"--accelerator", "gpu-test", "--pool", "chat"}
	return queue, append(queue, "--detector", "chat", "--modality", "text", "--quality", "off")
}

// gate puts a gate before the chat server of the rig: from hold on calls wait until release.
func (r *rig) gate(t *testing.T) (hold, release func()) {
	t.Helper()
	target, err := url.Parse(r.lookup(t, "SPEECHMANIP_CHAT_URL"))
	if err != nil {
		t.Fatal(err)
	}
	var gate atomic.Pointer[chan struct{}] // nil is open
	forward := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if closed := gate.Load(); closed != nil {
			<-*closed
		}
		forward.ServeHTTP(w, request)
	}))
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+server.URL)
	closed := make(chan struct{})
	release = sync.OnceFunc(func() { close(closed) })
	t.Cleanup(server.Close)
	t.Cleanup(release) // before it: the server waits for its calls
	return func() { gate.Store(&closed) }, release
}

// TestRollOut makes a new version of the workers current in the middle of an
// evaluation: what has begun ends on the old one, the rest runs on the new one, and
// once nothing is in flight on the old one it may go.
func TestRollOut(t *testing.T) {
	t.Parallel() // it waits more than it works
	const chunkSize = 8
	r := newRig(t)
	queue, detection := r.slowChat(t, 500*time.Millisecond)
	hold, release := r.gate(t)
	c := r.temporal(t)
	defer c.Close()
	version := func(build string) []string {
		return append([]string{"--deployment", "rehearsed", "--build-id", build}, queue...)
	}
	a := r.worker(t, version("a")...)
	waitFor(t, time.Minute, "version a to be current", func() bool {
		_, _, err := r.try(t, "deployment", "set-current", "rehearsed", "a")
		return err == nil
	})
	r.starter(t, append([]string{"evaluate"}, append(detection, "--id", "rolled", "--detach",
		"--dataset", r.shortTurns(t, 24, 4), "--chunks", "1", "--chunk-size", fmt.Sprint(chunkSize), "--dialogues", "2")...)...)
	waitFor(t, 2*time.Minute, "two dialogues to be done", func() bool {
		return a.logged(t, "stored") > 0 && r.progress(t, c, "rolled").Done >= 2
	})
	hold() // else a slow machine would end the first chunk before there is another version
	b := r.worker(t, version("b")...)
	waitFor(t, time.Minute, "version b to be current", func() bool {
		_, _, err := r.try(t, "deployment", "set-current", "rehearsed", "b")
		return err == nil
	})
	if p := r.progress(t, c, "rolled"); len(p.Live) != 1 || p.Live[0] != evaluation.ChunkWorkflowID("rolled", 0) || p.Done >= chunkSize {
		t.Fatalf("the first chunk is no longer in flight: %+v", p)
	}
	if got := r.starter(t, "deployment", "describe", "rehearsed"); !strings.Contains(got, "draining   a:") || !strings.Contains(got, "current    b:") {
		t.Errorf("deployment describe:\n%s", got)
	}
	release()
	built := decode(t, r.starter(t, "watch", "rolled", "--json"))
	if built.Pending != 0 || len(built.Failures) != 0 || built.N != 24 {
		t.Errorf("n %d, %d pending, failures %v", built.N, built.Pending, built.Failures)
	}
	if l := readLedger(t, a.log, b.log); len(l.duplicates)+len(l.inFlight)+l.failed != 0 || b.logged(t, "stored") == 0 {
		t.Errorf("of both versions' calls: %d again after they were stored, %d without an end, %d failed; %d stored by the new one",
			len(l.duplicates), len(l.inFlight), l.failed, b.logged(t, "stored"))
	}
	if build, behaviour := ranOn(t, c, "rolled"); build != "b" || behaviour != enumspb.VERSIONING_BEHAVIOR_AUTO_UPGRADE {
		t.Errorf("the evaluation ended on %q, %s", build, behaviour)
	}
	for i := range 24 {
		want := "a"
		if i >= chunkSize {
			want = "b"
		}
		if i%chunkSize == 0 {
			if build, behaviour := ranOn(t, c, evaluation.ChunkWorkflowID("rolled", i/chunkSize)); build != want || behaviour != enumspb.VERSIONING_BEHAVIOR_PINNED {
				t.Errorf("chunk %d ran on %q, %s, want %q", i/chunkSize, build, behaviour, want)
			}
		}
		if build, behaviour := ranOn(t, c, evaluation.DialogueWorkflowID("rolled", fmt.Sprintf("d%d", i), 0)); build != want || behaviour != enumspb.VERSIONING_BEHAVIOR_PINNED {
			t.Errorf("dialogue %d ran on %q, %s, want %q", i, build, behaviour, want)
		}
	}

	// One that the worker takes too late, as on a busy machine, is made by any other.
	if own, late := ownQueue(t, c, evaluation.DialogueWorkflowID("rolled", "d0", 0)); own == 0 || late > own {
		t.Errorf("%d calls went to the queue of one worker, %d of them were too late", own, late)
	}

	a.stop(t)
	after := r.evaluate(t, append(detection, "--id", "after", "--dataset", r.shortTurns(t, 4, 4))...)
	if after.N != 4 || len(after.Failures) != 0 {
		t.Errorf("after the old version has gone: n %d, failures %v", after.N, after.Failures)
	}
	r.checkQueues(t, "rehearsed.b", "detect-gpu-test-chat")
}

// checkQueues expects each kind of queue to be polled by the version, and to tell the
// worker's slots, which it says once a minute.
func (r *rig) checkQueues(t *testing.T, version, detect string) {
	t.Helper()
	type state struct {
		Queue, Tasks string
		Pollers      []struct{ Identity, Version string }
		Slots        *struct{ Workers, Total, Used int }
		Backlog      int
	}
	var states []state
	waitFor(t, 3*time.Minute, "the workers to tell their slots", func() bool {
		states = nil
		if err := json.Unmarshal([]byte(r.starter(t, "queues", "--json", "--queue", "speech-nobody")), &states); err != nil {
			t.Fatal(err)
		}
		for _, s := range states {
			if s.Queue == detect && s.Slots != nil && s.Slots.Workers == 1 {
				return true
			}
		}
		return false
	})
	want := []string{"audio activity", detect + " activity", "speech-flite activity", "speech-nobody activity", "speechmanip workflow", "speechmanip activity"}
	for i, s := range states {
		if i >= len(want) || s.Queue+" "+s.Tasks != want[i] {
			t.Fatalf("queue %d is %s %s, want %q", i, s.Queue, s.Tasks, want)
		}
		if s.Queue == "speech-nobody" {
			if len(s.Pollers) != 0 || s.Slots != nil {
				t.Errorf("nobody's queue: %+v", s)
			}
			continue
		}
		if s.Backlog != 0 || s.Slots == nil || s.Slots.Total < 1 || s.Slots.Used > s.Slots.Total {
			t.Errorf("%s %s: %+v", s.Queue, s.Tasks, s)
		}
		found := false
		for _, p := range s.Pollers {
			found = found || p.Version == version && p.Identity != ""
		}
		if !found {
			t.Errorf("%s %s: no poller of %s in %+v", s.Queue, s.Tasks, version, s.Pollers)
		}
	}
}
