package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

// Traces are where a process's spans go.
type Traces struct {
	on       bool
	provider trace.TracerProvider
	close    func(context.Context) error
}

// closeTimeout is how long the last spans have to be sent.
const closeTimeout = 5 * time.Second

// NewTraces sends spans by OTLP over HTTP where OpenTelemetry's own variables say,
// OTEL_EXPORTER_OTLP_ENDPOINT or ..._TRACES_ENDPOINT, and the others of headers, TLS,
// sampler and resource. Without an endpoint there are no spans. A receiver that doesn't answer is logged, and stops no work.
func NewTraces(ctx context.Context, service string, log *zap.Logger) (*Traces, error) {
	either := func(name string) string {
		return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	if either("ENDPOINT") == "" || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return &Traces{provider: noop.NewTracerProvider(), close: func(context.Context) error { return nil }}, nil
	}
	if protocol := either("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("send traces: OTEL_EXPORTER_OTLP_PROTOCOL=%q: use http/protobuf, and the receiver's port for it (4318 is usual)", protocol)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	// OpenTelemetry has one place for what goes wrong in the background.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("spans are lost", zap.Error(err)) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Traces{on: true, provider: provider, close: provider.Shutdown}, nil
}

// Tracer makes spans. Their attributes hold no text of a dataset.
func (t *Traces) Tracer() trace.Tracer { return t.provider.Tracer("speechmanip") }

// Close sends what is left.
func (t *Traces) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return t.close(ctx)
}
