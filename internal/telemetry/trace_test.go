package telemetry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.uber.org/zap"
)

const words = "you never listen to me"

func whole(ctx workflow.Context) error {
	for _, id := range []string{"a", "b"} {
		options := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id})
		_ = workflow.ExecuteChildWorkflow(options, item, words).Get(ctx, nil) // both fail
	}
	return nil
}

func item(ctx workflow.Context, text string) error {
	options := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
	return workflow.ExecuteActivity(options, judge, text).Get(ctx, nil)
}

func judge(_ context.Context, text string) error {
	return temporal.NewApplicationError("can't judge "+text, "bad_input")
}

// Each child is one trace, linked to its parent's, and no span quotes what is judged.
func TestInterceptor(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	traces := &Traces{on: true, provider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))}
	tracing, err := traces.Interceptors("item")
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(SDK(zap.NewNop()))
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{tracing[0].(interceptor.WorkerInterceptor)}})
	env.RegisterWorkflow(whole)
	env.RegisterWorkflow(item)
	env.RegisterActivity(judge)
	env.ExecuteWorkflow(whole)
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	byTrace := map[trace.TraceID][]string{}
	for _, s := range spans.GetSpans() {
		id := s.SpanContext.TraceID()
		byTrace[id] = append(byTrace[id], s.Name)
		if strings.Contains(fmt.Sprint(s.Attributes, s.Events, s.Status), "listen") {
			t.Errorf("%s quotes: %v %v", s.Name, s.Events, s.Status)
		}
		if strings.HasPrefix(s.Name, "StartChildWorkflow:") && (len(s.Links) != 1 || !s.Links[0].SpanContext.IsValid() || s.Parent.IsValid()) {
			t.Errorf("%s has links %v, parent %v", s.Name, s.Links, s.Parent)
		}
	}
	var got []string
	for _, names := range byTrace {
		slices.Sort(names)
		got = append(got, strings.Join(names, " "))
	}
	slices.Sort(got)
	one := "RunActivity:judge RunWorkflow:item StartActivity:judge StartChildWorkflow:item"
	if want := []string{one, one, "RunWorkflow:whole"}; !slices.Equal(got, want) {
		t.Errorf("traces are\n%s", strings.Join(got, "\n"))
	}
}

func TestTracesAreOff(t *testing.T) {
	const endpoint = "http://127.0.0.1:1"
	for _, test := range []struct {
		endpoint, disabled, exporter, protocol string
		refused                                bool
	}{
		{},
		{endpoint: endpoint, disabled: "true"},
		{endpoint: endpoint, exporter: "none"},
		{endpoint: endpoint, protocol: "grpc", refused: true},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
		t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", test.endpoint)
		t.Setenv("OTEL_SDK_DISABLED", test.disabled)
		t.Setenv("OTEL_TRACES_EXPORTER", test.exporter)
		t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", test.protocol)
		traces, err := NewTraces(t.Context(), "test", zap.NewNop())
		if (err != nil) != test.refused || err != nil && !strings.Contains(err.Error(), "use http/protobuf") {
			t.Errorf("%+v: %v", test, err)
		}
		if err != nil {
			continue
		}
		if _, span := traces.Tracer().Start(t.Context(), "x"); span.IsRecording() {
			t.Errorf("%+v: spans", test)
		}
		if err := traces.Close(); err != nil {
			t.Error(err)
		}
	}
}
