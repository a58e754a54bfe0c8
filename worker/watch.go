package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/overview"
)

const (
	watchEvery   = 15 * time.Second // as often as Prometheus asks
	watchTimeout = 10 * time.Second
)

// watcher measures what no worker sees of itself: evaluations that stand still, queues
// that nobody serves, schedules that were missed. Every worker with role workflows
// measures the same: a query takes the maximum.
type watcher struct {
	look func(context.Context) (overview.View, error)
	log  *zap.Logger
	seen atomic.Pointer[overview.View] // nil before the first
	name *labels                       // queues
}

// newWatcher makes the instruments, which show the last view and nothing older.
func newWatcher(meter metric.Meter, look func(context.Context) (overview.View, error), log *zap.Logger) (*watcher, error) {
	w := &watcher{look: look, log: log, name: newLabels()}
	i := instruments{meter: meter}
	evaluations := i.shown("speechmanip_evaluations", "", "Evaluations that run, by state: running or paused.")
	dialogues := i.shown("speechmanip_evaluation_dialogues", "", "Dialogues of the evaluations that run, by state: waiting, in_flight, done or failed.")
	pollers := i.shown("speechmanip_queue_pollers", "", "Workers that asked a queue for tasks within the last minutes.")
	backlog := i.shown("speechmanip_queue_backlog", "", "Tasks that wait on a queue, approximately.")
	oldest := i.shown("speechmanip_queue_oldest", "s", "How long the first of a queue's backlog has waited.")
	schedules := i.shown("speechmanip_schedules", "", "Schedules, by state: active or paused.")
	actions := i.shown("speechmanip_schedule_actions", "", "What became of the schedules' actions so far: taken, skipped or missed.")
	_, err := meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		v := w.seen.Load()
		if v == nil {
			return nil
		}
		show := func(g metric.Float64ObservableGauge, value float64, labels ...attribute.KeyValue) {
			to.ObserveFloat64(g, value, metric.WithAttributes(labels...))
		}
		states, counts := tally(v.Evaluations)
		for _, state := range []string{"running", "paused"} {
			show(evaluations, float64(states[state]), attribute.String("state", state))
		}
		for _, state := range []string{"waiting", "in_flight", "done", "failed"} {
			show(dialogues, float64(counts[state]), attribute.String("state", state))
		}
		for _, q := range v.Queues {
			by := []attribute.KeyValue{attribute.String("task_queue", w.name.bound(q.Name)), attribute.String("tasks", q.Tasks)}
			show(pollers, float64(len(q.Pollers)), by...)
			show(backlog, float64(q.Backlog), by...)
			show(oldest, q.Oldest, by...)
		}
		s := v.Schedules
		show(schedules, float64(s.Active), attribute.String("state", "active"))
		show(schedules, float64(s.Paused), attribute.String("state", "paused"))
		for what, n := range map[string]int{"taken": s.Taken, "skipped": s.Skipped, "missed": s.Missed} {
			show(actions, float64(n), attribute.String("outcome", what))
		}
		return nil
	}, evaluations, dialogues, pollers, backlog, oldest, schedules, actions)
	return w, errors.Join(append(i.errs, err)...)
}

// tally counts evaluations by state, and their dialogues.
func tally(running []overview.Evaluation) (states, dialogues map[string]int) {
	states, dialogues = map[string]int{}, map[string]int{}
	for _, e := range running {
		state, p := "running", evaluation.Progress{}
		if e.Progress != nil {
			p = *e.Progress
		}
		if p.Paused != nil {
			state = "paused"
		}
		states[state]++
		dialogues["waiting"] += p.Total - p.Started
		dialogues["in_flight"] += p.Started - p.Done
		dialogues["done"] += p.Done - p.Failed
		dialogues["failed"] += p.Failed
	}
	return states, dialogues
}

// run looks again and again until ctx ends. What can't be seen once is no reason to
// show nothing: the rest of the view is shown.
func (w *watcher) run(ctx context.Context) {
	for {
		bounded, cancel := context.WithTimeout(ctx, watchTimeout)
		v, err := w.look(bounded)
		cancel()
		if err != nil && ctx.Err() == nil {
			w.log.Warn("not all could be seen", zap.Error(err))
		}
		w.seen.Store(&v)
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchEvery):
		}
	}
}
