package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/overview"
	"github.com/speechmanip/speechmanip/internal/telemetry"
	"github.com/speechmanip/speechmanip/workflows"
)

// sight is how this process is seen from outside: metrics, health and traces.
type sight struct {
	settings settings
	log      *zap.Logger
	metrics  *telemetry.Metrics
	traces   *telemetry.Traces
	observer *observer
	health   *health
	stop     func() // listening
	blind    func() // ends the looks at Temporal
}

// openSight begins to be seen. Close it, also after an error.
func openSight(ctx context.Context, s settings, log *zap.Logger) (*sight, error) {
	o := &sight{settings: s, log: log, health: &health{now: time.Now}, stop: func() {}, blind: func() {}}
	var err error
	if o.metrics, err = telemetry.NewMetrics(log.Named("metrics")); err != nil {
		return o, err
	}
	if s.listen != "" {
		stop, err := serveMonitor(s.listen, monitor(o.metrics.Handler(), o.health), log.Named("listen"))
		if err != nil {
			return o, err
		}
		o.stop = stop
	}
	if o.traces, err = telemetry.NewTraces(ctx, "speechmanip-worker", log.Named("traces")); err != nil {
		return o, err
	}
	if o.observer, err = newObserver(o.metrics.Meter(), o.traces.Tracer(), engineNames(s)); err != nil {
		return o, fmt.Errorf("make metrics: %w", err)
	}
	return o, nil
}

// into has a client's calls, and the work of its workers, be seen.
func (o *sight) into(options *client.Options) error {
	tracing, err := o.traces.Interceptors(workflows.Traced()...)
	options.Interceptors = append(options.Interceptors, tracing...)
	options.MetricsHandler = o.metrics.SDK()
	return err
}

// works says that all workers poll. From now on the process is ready while Temporal
// and the store answer, and measures what is to be seen in Temporal until it drains.
func (o *sight) works(ctx context.Context, from overview.Source, store func(context.Context) error) error {
	o.health.works([]check{
		{"Temporal", func(ctx context.Context) error {
			_, err := from.Client.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		}},
		{"the object store", store},
	})
	if o.settings.listen == "" || !slices.Contains(o.settings.roles, "workflows") {
		return nil
	}
	w, err := newWatcher(o.metrics.Meter(), from.Look, o.log.Named("watch"))
	if err != nil {
		return fmt.Errorf("make metrics: %w", err)
	}
	watching, end := context.WithCancel(ctx)
	o.blind = end
	go w.run(watching)
	return nil
}

// drains says that no new work is taken.
func (o *sight) drains() {
	o.blind()
	o.health.drains()
}

// close sends the last spans and stops to listen.
func (o *sight) close() {
	var err error
	if o.traces != nil {
		err = o.traces.Close()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		o.log.Warn("the last spans are lost", zap.Error(err))
	}
	o.stop()
}
