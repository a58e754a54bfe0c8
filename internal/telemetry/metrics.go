package telemetry

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.uber.org/zap"
)

// seconds are the bounds of every histogram of a duration: from a local activity,
// which takes milliseconds, to a long clip's recognition, which takes minutes.
var seconds = []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}

// Metrics is what a process measures of itself, its own and the Temporal SDK's.
type Metrics struct {
	registry *prometheus.Registry
	meter    metric.Meter
	log      *zap.Logger
}

// NewMetrics returns metrics that nobody has asked for yet. Problems while
// measuring are logged; they stop no work.
func NewMetrics(log *zap.Logger) (*Metrics, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})) // the first ones: nothing to clash with
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("make metrics: %w", err)
	}
	durations := sdkmetric.NewView(
		sdkmetric.Instrument{Kind: sdkmetric.InstrumentKindHistogram, Unit: "s"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: seconds}},
	)
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithView(durations))
	return &Metrics{registry: registry, meter: provider.Meter("speechmanip"), log: log}, nil
}

// Handler serves the metrics as Prometheus reads them.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorLog: zap.NewStdLog(m.log)})
}

// Meter makes instruments. Durations are histograms in unit "s". Labels must be of
// few values: never an id, never a text.
func (m *Metrics) Meter() metric.Meter { return m.meter }

// SDK returns what the Temporal SDK measures with. Counters of rare errors are there
// from the beginning, at zero, so that a query finds them before the first.
func (m *Metrics) SDK() client.MetricsHandler {
	handler := bounded{opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter:                m.meter,
		InitialAttributes:    attribute.NewSet(),
		OnError:              func(err error) { m.log.Warn("a metric of the SDK is lost", zap.Error(err)) },
		UseMonotonicCounters: true,
	})}
	for _, name := range []string{
		"temporal_request_failure", "temporal_request_resource_exhausted", "temporal_long_request_failure", "temporal_long_request_resource_exhausted",
		"temporal_workflow_failed", "temporal_workflow_task_execution_failed", "temporal_activity_execution_failed", "temporal_activity_task_error",
		"temporal_local_activity_execution_failed",
	} {
		handler.Counter(name).Inc(0)
	}
	handler.WithTags(map[string]string{"failure_reason": "NonDeterminismError"}).Counter("temporal_workflow_task_execution_failed").Inc(0)
	handler.WithTags(map[string]string{"operation": "RecordActivityTaskHeartbeat", "status_code": "NOT_FOUND"}).Counter("temporal_request_failure").Inc(0)
	return handler
}

// bounded keeps the names of queues that belong to one process out of the labels: a
// new one would come with every start.
type bounded struct{ client.MetricsHandler }

// WithTags returns a handler with the tags; a process's own queue is named "x@own".
func (b bounded) WithTags(tags map[string]string) client.MetricsHandler {
	shared, _, own := strings.Cut(tags["task_queue"], "@")
	if own {
		tags = maps.Clone(tags)
		tags["task_queue"] = shared + "@own"
	}
	return bounded{b.MetricsHandler.WithTags(tags)}
}
