package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/overview"
	"github.com/speechmanip/speechmanip/internal/telemetry"
)

func TestWatcher(t *testing.T) {
	m, err := telemetry.NewMetrics(zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var view overview.View
	w, err := newWatcher(m.Meter(), func(context.Context) (overview.View, error) {
		cancel() // one look
		return view, errors.New("something isn't seen")
	}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	scrape := func() string {
		answer := httptest.NewRecorder()
		m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		return answer.Body.String()
	}
	if text := scrape(); strings.Contains(text, "speechmanip_") {
		t.Errorf("shown before anything was seen:\n%s", text)
	}
	counts := evaluation.Counts{Started: 7, Done: 4, Yes: 2, No: 1, Failed: 1}
	view = overview.View{
		Evaluations: []overview.Evaluation{
			{ID: "a", Progress: &evaluation.Progress{Total: 20, Counts: counts, Paused: &evaluation.Pause{}}},
			{ID: "b", Progress: &evaluation.Progress{Total: 10}},
			{ID: "c"}, // no worker answers
		},
		Queues: []overview.Queue{
			{Name: "audio", Tasks: "activity", Pollers: make([]overview.Poller, 2), Backlog: 5, Oldest: 1.5},
			{Name: "speech-gone", Tasks: "activity"},
		},
		Schedules: overview.Schedules{Active: 1, Paused: 2, Taken: 3, Skipped: 4, Missed: 5},
	}
	w.run(ctx)
	text := scrape()
	for _, want := range []string{
		`speechmanip_evaluations{state="running"} 2`, `speechmanip_evaluations{state="paused"} 1`,
		`speechmanip_evaluation_dialogues{state="waiting"} 23`, `speechmanip_evaluation_dialogues{state="in_flight"} 3`,
		`speechmanip_evaluation_dialogues{state="done"} 3`, `speechmanip_evaluation_dialogues{state="failed"} 1`,
		`speechmanip_queue_pollers{task_queue="audio",tasks="activity"} 2`, `speechmanip_queue_pollers{task_queue="speech-gone",tasks="activity"} 0`,
		`speechmanip_queue_backlog{task_queue="audio",tasks="activity"} 5`, `speechmanip_queue_oldest_seconds{task_queue="audio",tasks="activity"} 1.5`,
		`speechmanip_schedules{state="active"} 1`, `speechmanip_schedules{state="paused"} 2`,
		`speechmanip_schedule_actions{outcome="taken"} 3`, `speechmanip_schedule_actions{outcome="skipped"} 4`, `speechmanip_schedule_actions{outcome="missed"} 5`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	view = overview.View{}
	w.run(ctx)
	if text := scrape(); strings.Contains(text, "speech-gone") {
		t.Error("a queue that nobody uses any more is still shown")
	}
}
