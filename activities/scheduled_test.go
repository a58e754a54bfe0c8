package activities

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/secret"
	"github.com/speechmanip/speechmanip/internal/vote"
	"github.com/speechmanip/speechmanip/internal/webhook"
)

// scheduled is a store with a judged baseline, and a schedule on it.
type scheduled struct {
	archive archive.Archive
	*Scheduled
	schedule objectstore.Ref
	baseline evaluation.Manifest
}

const scheduledItems = 24 // half of each truth

func newScheduled(t *testing.T) *scheduled {
	t.Helper()
	a := archive.Archive{Store: mem.New()}
	s := &scheduled{archive: a, Scheduled: &Scheduled{Library: &Library{Archive: a}, HTTP: http.DefaultClient, Now: func() time.Time { return noon }}}
	var dialogues []dialogue.Dialogue
	for i := range scheduledItems {
		d := dialogue.Dialogue{ID: fmt.Sprintf("%02d", i), Truth: dialogue.Yes, Turns: []dialogue.Turn{{Speaker: "Person1", Text: fmt.Sprintf("Words %d.", i)}}}
		if i%2 == 1 {
			d.Truth = dialogue.No
		}
		dialogues = append(dialogues, d)
	}
	lines, places, err := a.PutDataset(t.Context(), dialogues)
	if err != nil {
		t.Fatal(err)
	}
	base := spec()
	base.Dataset.Lines, base.Limits.ChunkSize, base.Budget, base.SearchAttributes = lines, 10, evaluation.Budget{Calls: 99}, true
	var items []evaluation.Item
	for i, d := range dialogues {
		items = append(items, evaluation.Item{ID: d.ID, Line: places[i]})
	}
	if s.baseline, _, err = a.Create(t.Context(), evaluation.Manifest{Spec: base, Created: noon, Exemplars: []evaluation.Excluded{{ID: "earlier", Reason: "exemplar"}}}, evaluation.Divide(items, 10)); err != nil {
		t.Fatal(err)
	}
	s.judge(t, s.baseline, false)
	stored := evaluation.Schedule{
		ID: "nightly", Baseline: base.ID, Shift: 0.02,
		Limits: []evaluation.LossLimit{{Metric: score.MetricRecall}},
		Canary: []evaluation.CanaryItem{{Item: evaluation.Item{ID: "00", Line: places[0], Clip: clipOf("00")}, Answer: evaluation.Answer{P: vote.Mass{P: 900_000_000, Observed: true}}}},
	}
	if s.schedule, err = a.PutSchedule(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	return s
}

func clipOf(id string) objectstore.Ref {
	return objectstore.Ref{Key: "clips/" + id + ".wav", SHA256: "clip of " + id}
}

// judge stores a record for every item: the truth as it is, or a NO for all.
func (s *scheduled) judge(t *testing.T, m evaluation.Manifest, allNo bool) {
	t.Helper()
	items, err := s.archive.Items(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	for i, item := range items {
		d, err := s.archive.Dialogue(t.Context(), m.Spec.Dataset.Lines, item)
		if err != nil {
			t.Fatal(err)
		}
		r := evaluation.Record{Evaluation: m.Spec.ID, ID: item.ID, Truth: d.Truth, TextHash: d.TextHash(), Clip: clipOf(item.ID)}
		r.Verdict.Verdict = vote.Verdict(d.Truth)
		p := vote.Nano(900_000_000)
		if allNo {
			r.Verdict.Verdict, p = vote.No, 100_000_000
		}
		r.Passes = []evaluation.PassRecord{{PYes: vote.Mass{P: p, Observed: true}, Pass: vote.Pass{Vote: vote.Vote(r.Verdict.Verdict)}}}
		if _, err := s.archive.PutRecord(t.Context(), i/m.Spec.Limits.ChunkSize, r); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *scheduled) firing(n int) FiringTask {
	id := fmt.Sprintf("nightly-%d", n)
	return FiringTask{Schedule: s.schedule, Firing: evaluation.Firing{Schedule: "nightly", Evaluation: id, Canary: evaluation.CanaryID(id), Due: noon.Add(time.Duration(n) * time.Hour)}}
}

// fire prepares a firing and judges its evaluations.
func (s *scheduled) fire(t *testing.T, n int, allNo bool) FiringTask {
	t.Helper()
	task := s.firing(n)
	if _, err := run[FiringPlan](t, s.PrepareFiring, task); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{task.Firing.Evaluation, task.Firing.Canary} {
		m, _, err := s.archive.Manifest(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		s.judge(t, m, allNo)
	}
	return task
}

func TestPrepareFiring(t *testing.T) {
	s := newScheduled(t)
	task := s.firing(1)
	task.Private = true
	plan, err := run[FiringPlan](t, s.PrepareFiring, task)
	if err != nil {
		t.Fatal(err)
	}
	s.Now = func() time.Time { return noon.Add(time.Minute) }
	again, err := run[FiringPlan](t, s.PrepareFiring, task)
	if diff := cmp.Diff(plan, again); err != nil || diff != "" {
		t.Errorf("prepared again: %v (-first +again):\n%s", err, diff)
	}
	if plan.Main.Items != scheduledItems || len(plan.Main.Chunks) != 3 || plan.Main.DetectQueue != "detect-cpu-test" || plan.Main.Attributes[evaluation.AttributeEvaluation] != "nightly-1" || plan.Main.Settings.Stored != "fresh" {
		t.Errorf("%+v", plan.Main)
	}
	m, _, err := s.archive.Manifest(t.Context(), "nightly-1")
	if err != nil {
		t.Fatal(err)
	}
	want := s.baseline.Spec.Again("nightly-1")
	want.Private = true
	if diff := cmp.Diff(want, m.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if d := want.Detection; d.Passes != evaluation.PassesFresh || want.Dataset.From != "e" || !want.Dataset.Clips || !want.Budget.IsZero() {
		t.Errorf("%+v", want)
	}
	if diff := cmp.Diff(s.baseline.Exemplars, m.Exemplars); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	items, err := s.archive.Items(t.Context(), m)
	if err != nil || items[3].Alias != "000003" || items[3].Clip != clipOf("03") {
		t.Errorf("%v, %+v", err, items[3])
	}
	canary, _, err := s.archive.Manifest(t.Context(), "nightly-1-canary")
	if err != nil || canary.Items != 1 || plan.Canary.Items != 1 || !canary.Spec.Quality.Off || !strings.Contains(canary.Spec.Note, "schedule nightly") {
		t.Errorf("%v, %+v", err, canary)
	}
	firings, err := s.archive.Firings(t.Context(), "nightly")
	if err != nil || len(firings) != 1 || firings[0] != task.Firing {
		t.Errorf("%v, %+v", err, firings)
	}
}

// The id of a firing may have been taken by a person.
func TestPrepareFiringRefuses(t *testing.T) {
	s := newScheduled(t)
	other := s.baseline.Spec
	other.ID = "nightly-1"
	if _, _, err := s.archive.Create(t.Context(), evaluation.Manifest{Spec: other}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := run[FiringPlan](t, s.PrepareFiring, s.firing(1)); err == nil || !strings.Contains(err.Error(), "used by another evaluation") {
		t.Error(err)
	}
	gone, err := s.archive.PutSchedule(t.Context(), evaluation.Schedule{ID: "gone", Baseline: "nobody"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run[FiringPlan](t, s.PrepareFiring, FiringTask{Schedule: gone, Firing: evaluation.Firing{Schedule: "gone", Evaluation: "gone-1"}}); err == nil || !strings.Contains(err.Error(), "baseline") {
		t.Error(err)
	}
}

func TestCompareFiring(t *testing.T) {
	s := newScheduled(t)
	same, err := run[evaluation.Outcome](t, s.CompareFiring, s.fire(t, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	if same.Look != 1 || same.Regression != evaluation.RegressionNone || same.Drift.Cause != evaluation.CauseNone || len(same.Against) != 1 || len(Events(same)) != 0 {
		t.Errorf("%+v", same)
	}
	task := s.fire(t, 2, true)
	worse, err := run[evaluation.Outcome](t, s.CompareFiring, task)
	if err != nil {
		t.Fatal(err)
	}
	if worse.Look != 2 || worse.Regression != evaluation.RegressionShown || worse.Drift.Cause != evaluation.CauseModel || len(worse.Against) != 2 || worse.Against[1].Evaluation != "nightly-1" {
		t.Errorf("%+v", worse)
	}
	if diff := cmp.Diff([]string{"regression", "model_changed"}, Events(worse)); diff != "" {
		t.Error(diff)
	}
	again, err := run[evaluation.Outcome](t, s.CompareFiring, task)
	if diff := cmp.Diff(worse, again); err != nil || diff != "" {
		t.Errorf("compared again: %v (-first +again):\n%s", err, diff)
	}
	outcomes, err := s.archive.Outcomes(t.Context(), "nightly")
	if diff := cmp.Diff([]evaluation.Outcome{same, worse}, outcomes); err != nil || diff != "" {
		t.Errorf("stored: %v (-want +got):\n%s", err, diff)
	}
	built, err := s.archive.Report(t.Context(), "nightly-2")
	if err != nil || built.Scheduled == nil || built.Scheduled.Look != 2 {
		t.Errorf("%v, report %+v", err, built.Scheduled)
	}
}

// Firings that end at once are looks of their own.
func TestLooksAreCountedOnce(t *testing.T) {
	s := newScheduled(t)
	var tasks []FiringTask
	for n := range 4 {
		tasks = append(tasks, s.fire(t, n, false))
	}
	looks := make([]int, len(tasks))
	var group sync.WaitGroup
	for i, task := range tasks {
		group.Go(func() {
			outcome, err := run[evaluation.Outcome](t, s.CompareFiring, task)
			if err != nil {
				t.Error(err)
			}
			looks[i] = outcome.Look
		})
	}
	group.Wait()
	slices.Sort(looks)
	if diff := cmp.Diff([]int{1, 2, 3, 4}, looks); diff != "" {
		t.Errorf("looks (-want +got):\n%s", diff)
	}
}

func TestNotify(t *testing.T) {
	s := newScheduled(t)
	if _, err := run[evaluation.Outcome](t, s.CompareFiring, s.fire(t, 1, true)); err != nil {
		t.Fatal(err)
	}
	var got Notification
	var signed bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		signed = r.Header.Get(webhook.HeaderSignature) == webhook.Sign("key", r.Header.Get(webhook.HeaderTimestamp), body) && r.Header.Get(webhook.HeaderDelivery) == "nightly/1"
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	s.Webhooks = map[string]webhook.Hook{"ci": {URL: secret.Text(server.URL), Key: "key"}}
	notify := func(name string) error {
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(silent{})
		env := suite.NewTestActivityEnvironment()
		env.RegisterActivity(s.Notify)
		_, err := env.ExecuteActivity(s.Notify, NotifyTask{Webhook: name, Schedule: "nightly", Look: 1})
		return err
	}
	if err := notify("ci"); err != nil {
		t.Fatal(err)
	}
	if !signed || got.Schema != NotificationSchema || got.Outcome.Evaluation != "nightly-1" || !slices.Contains(got.Events, "regression") {
		t.Errorf("signed %v, %+v", signed, got)
	}
	if err := notify("other"); err == nil || !strings.Contains(err.Error(), `no webhook "other"`) {
		t.Error(err)
	}
}
