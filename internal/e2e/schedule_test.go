//go:build integration && linux

package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/secret"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/trend"
	"github.com/speechmanip/speechmanip/internal/webhook"
	"github.com/speechmanip/speechmanip/workflows"
)

const (
	hookToken = "marked-hook-token"
	hookKey   = secret.Text("marked-hook-key")
)

// biased is a model that leans to YES or NO whatever it hears. Its answers about
// dialogues can be held back.
type biased struct {
	bias atomic.Int64 // the logit of YES against NO
	held sync.RWMutex // locked while answers are held back
}

func (b *biased) answer(p chat.Prompt) map[string]float64 {
	if !strings.Contains(p.Question, "(A) YES") {
		return nil
	}
	if p.Seconds > 1.5 { // a probe's clips are shorter
		b.held.RLock()
		defer b.held.RUnlock()
	}
	return map[string]float64{"A": float64(b.bias.Load()), "B": 0}
}

// TestSchedule fires three times under a model that changes between the second and
// the third time, and restarts everything after the first.
func TestSchedule(t *testing.T) {
	t.Parallel() // it waits more than it works
	model := &biased{}
	model.bias.Store(4)
	server := httptest.NewServer(chat.New(chat.Options{Dialect: chat.VLLM, Model: "tiny", Slots: 16, Script: model.answer}))
	defer server.Close()
	hook := &hooked{}
	receiver := httptest.NewServer(hook)
	defer receiver.Close()

	r := newRig(t)
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+server.URL, "SPEECHMANIP_WEBHOOKS=ci",
		"SPEECHMANIP_WEBHOOK_CI_URL="+receiver.URL+"/"+hookToken, "SPEECHMANIP_WEBHOOK_CI_KEY="+string(hookKey))
	c, err := client.Dial(client.Options{HostPort: r.stack.Temporal, Namespace: r.stack.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	nightly := c.ScheduleClient().GetHandle(t.Context(), "nightly")
	info := func() client.ScheduleInfo {
		d, err := nightly.Describe(t.Context())
		if err != nil {
			return client.ScheduleInfo{} // it has just restarted
		}
		return d.Info
	}
	start := func() *workerProcess { return r.worker(t, "--accelerator", "gpu-test", "--pool", "chat") }
	w := start()
	base := r.evaluate(t, "--id", "base", "--truth", "yes", "--limit", "6", "--detector", "chat", "--accelerator", "gpu-test", "--pool", "chat", "--quality", "off")
	if base.N != 6 || base.Confusion.Yes.Yes != 6 {
		t.Fatalf("baseline: n %d, %+v", base.N, base.Confusion)
	}
	r.starter(t, "schedule", "create", "nightly", "--baseline", "base", "--every", "8760h", "--catch-up", "10s", "--regression", "recall:0.05", "--canary", "3", "--webhook", "ci", "--note", "watch <it>")

	// The first finds what the baseline has, and costs no speech.
	r.starter(t, "schedule", "trigger", "nightly")
	first := r.look(t, 1)
	if first.Regression != evaluation.RegressionNone || first.Drift.Cause != evaluation.CauseNone || len(first.Drift.Server) != 0 || first.Drift.Canary.Observed != 3 {
		t.Errorf("first: %+v", first)
	}
	if u := first.Usage; first.Items != 6 || first.Failed != 0 || u.TurnsMade+u.ClipsMade != 0 || u.PassesMade == 0 {
		t.Errorf("first: %d items, %d failed, %+v", first.Items, first.Failed, u)
	}

	// Everything is gone while a firing is due, for longer than the catch-up window.
	idle := func() bool { return info().NumActions > 0 && len(info().RunningWorkflows) == 0 }
	waitFor(t, time.Minute, "the end of the first firing", idle)
	due := reschedule(t, nightly)
	w.kill(t)
	r.stack.Kill(t)
	time.Sleep(time.Until(due.Add(12 * time.Second)))
	r.stack.Restart(t)
	w = start()
	waitFor(t, time.Minute, "the missed firing", func() bool { return info().NumActionsMissedCatchupWindow > 0 })

	// One is told to fire while another still runs.
	model.held.Lock()
	held := sync.OnceFunc(model.held.Unlock)
	defer held()
	r.starter(t, "schedule", "trigger", "nightly")
	waitFor(t, time.Minute, "the second firing", func() bool { return len(info().RunningWorkflows) == 1 })
	r.starter(t, "schedule", "trigger", "nightly")
	waitFor(t, time.Minute, "the skipped firing", func() bool { return info().NumActionsSkippedOverlap == 1 })
	held()
	second := r.look(t, 2)
	if second.Regression != evaluation.RegressionNone || len(second.Against) != 2 || len(hook.received()) != 0 {
		t.Errorf("second: %+v, webhook %v", second, hook.received())
	}

	// The model changes; the server says nothing of it.
	waitFor(t, time.Minute, "the end of the second firing", idle)
	model.bias.Store(-4)
	r.starter(t, "schedule", "trigger", "nightly")
	third := r.look(t, 3)
	if third.Regression != evaluation.RegressionShown || third.Drift.Cause != evaluation.CauseModel || !third.Drift.Canary.Changed || len(third.Drift.Server) != 0 {
		t.Errorf("third: %+v", third)
	}
	for _, against := range third.Against {
		if c := against.Checks[0]; c.Before.Value != 1 || c.After.Value != 0 || !c.Shown || math.Abs(c.Confidence-(1-0.05/12/2)) > 1e-12 {
			t.Errorf("against %s: %+v", against.Evaluation, c)
		}
	}
	r.checkFound(t, c, third, hook)

	// The webhook's token and key are nowhere but in the workers' environment.
	w.stop(t)
	for _, folder := range []string{r.dir, filepath.Dir(r.stack.S3Root())} {
		found := grep(t, folder, hookToken, string(hookKey))
		if len(found) > 0 {
			t.Errorf("a secret is in %v", found)
		}
	}

	text, page := r.starter(t, "trend", "nightly"), r.starter(t, "trend", "nightly", "--format", "html")
	describe := r.starter(t, "schedule", "describe", "nightly")
	for _, want := range []string{"3 firings: 3 done", "skipped: 1, as one still ran", "as they could not be started within the catch-up window", third.Evaluation, "REGRESSION: recall went from 1.000 to 0.000", "the model changed"} {
		for name, shown := range map[string]string{"text": text, "page": page, "describe": describe} {
			if !strings.Contains(shown, want) {
				t.Errorf("%q is not in the %s of the trend:\n%s", want, name, shown)
			}
		}
	}
	r.starter(t, "schedule", "pause", "nightly", "--note", "enough")
	var d struct {
		trend.History
		Overlap        string `json:"overlap"`
		CatchUp        string `json:"catch_up"`
		PauseOnFailure bool   `json:"pause_on_failure"`
	}
	if err := json.Unmarshal([]byte(r.starter(t, "schedule", "describe", "nightly", "--json")), &d); err != nil || !d.Actions.Paused || d.Actions.Note != "enough" || d.Overlap != "skip" || d.CatchUp != "10s" || !d.PauseOnFailure {
		t.Errorf("paused: %v, %+v", err, d)
	}
	if list := r.starter(t, "schedule", "list"); !strings.Contains(list, "nightly") {
		t.Errorf("list:\n%s", list)
	}
	r.starter(t, "schedule", "delete", "nightly")
	if out := r.starter(t, "trend", "nightly"); !strings.Contains(out, "3 firings: 3 done") || !strings.Contains(out, "not known") {
		t.Errorf("after it was deleted:\n%s", out)
	}
}

// checkFound looks for what the third firing found where people and programs look.
func (r *rig) checkFound(t *testing.T, c client.Client, found evaluation.Outcome, hook *hooked) {
	t.Helper()
	var workflow string
	waitFor(t, time.Minute, "the search attribute", func() bool {
		listed, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: "Regression = 'shown' AND TemporalScheduledById = 'nightly'"})
		if err != nil || len(listed.Executions) != 1 {
			return false
		}
		workflow = listed.Executions[0].Execution.WorkflowId
		return true
	})
	var result workflows.ScheduledResult
	if err := c.GetWorkflow(t.Context(), workflow, "").Get(t.Context(), &result); err != nil {
		t.Fatal(err)
	}
	if result.Outcome.Evaluation != found.Evaluation || result.Outcome.Regression != evaluation.RegressionShown || result.Webhook != "called" {
		t.Errorf("%s: %+v", workflow, result)
	}
	calls := hook.received()
	if len(calls) != 1 || !slices.Equal(calls[0].Events, []string{"regression", "model_changed"}) || calls[0].Outcome.Evaluation != found.Evaluation {
		t.Errorf("webhook: %+v", calls)
	}
	built, err := r.archive(t).Report(t.Context(), found.Evaluation)
	if err != nil || built.Scheduled == nil || built.Scheduled.Look != 3 {
		t.Errorf("report: %v, %+v", err, built.Scheduled)
	}
	if text := r.starter(t, "report", found.Evaluation); !strings.Contains(text, "Schedule nightly, look 3: regression shown") {
		t.Errorf("report:\n%s", text)
	}
}

// hooked receives calls of the webhook and checks their signatures.
type hooked struct {
	mu    sync.Mutex
	calls map[string]activities.Notification // by delivery
	bad   []string
}

func (h *hooked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	var n activities.Notification
	if err == nil {
		err = json.Unmarshal(body, &n)
	}
	signed := r.Header.Get(webhook.HeaderSignature) == webhook.Sign(hookKey, r.Header.Get(webhook.HeaderTimestamp), body)
	if err != nil || !signed || r.URL.Path != "/"+hookToken {
		h.bad = append(h.bad, r.URL.Path)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if h.calls == nil {
		h.calls = map[string]activities.Notification{}
		w.WriteHeader(http.StatusServiceUnavailable) // the first try is to be repeated
		return
	}
	h.calls[r.Header.Get(webhook.HeaderDelivery)] = n
}

func (h *hooked) received() []activities.Notification {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.calls))
}

// look waits for a look of the schedule and returns it.
func (r *rig) look(t *testing.T, number int) evaluation.Outcome {
	t.Helper()
	var out evaluation.Outcome
	waitFor(t, 2*time.Minute, "a look", func() bool {
		outcomes, err := r.archive(t).Outcomes(t.Context(), "nightly")
		if err != nil || len(outcomes) < number {
			return false
		}
		out = outcomes[number-1]
		return true
	})
	return out
}

// reschedule has a schedule fire once more, in more than 6 s and less than 15, and not
// again for months. It returns when that is on the schedule's list.
func reschedule(t *testing.T, schedule client.ScheduleHandle) time.Time {
	t.Helper()
	const every = 100 * 24 * time.Hour
	var due time.Time
	waitFor(t, time.Minute, "the new time", func() bool {
		if time.Until(due) < 8*time.Second {
			due = time.Now().Add(15 * time.Second).Truncate(time.Second)
			if err := schedule.Update(t.Context(), client.ScheduleUpdateOptions{
				DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
					changed := in.Description.Schedule
					changed.Spec = &client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: every, Offset: time.Duration(due.UnixNano() % int64(every))}}}
					return &client.ScheduleUpdate{Schedule: &changed}, nil
				},
			}); err != nil {
				t.Fatal(err)
			}
		}
		d, err := schedule.Describe(t.Context())
		return err == nil && len(d.Info.NextActionTimes) > 0 && d.Info.NextActionTimes[0].Equal(due) && time.Until(due) > 6*time.Second
	})
	return due
}

// grep returns the files below a folder that hold one of the texts.
func grep(t *testing.T, folder string, texts ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil // servers that run remove files of theirs
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for _, text := range texts {
			if strings.Contains(string(data), text) {
				found = append(found, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
