package telemetry

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
)

// Interceptors follow workflows and their activities, through every worker, for a
// client's options. Child workflows of the types in own begin a trace of their own,
// linked to their parent's: else a large evaluation would be one trace, of more spans
// than any viewer shows.
//
// Signals, queries and updates make no spans: there are many, and they say little.
// Without a receiver there are no interceptors.
func (t *Traces) Interceptors(own ...string) ([]interceptor.ClientInterceptor, error) {
	if !t.on {
		return nil, nil
	}
	roots := map[string]bool{}
	for _, name := range own {
		roots["StartChildWorkflow:"+name] = true
	}
	inner, err := opentelemetry.NewTracer(opentelemetry.TracerOptions{
		Tracer:               t.Tracer(),
		DisableSignalTracing: true, DisableQueryTracing: true, DisableUpdateTracing: true, DisableBaggage: true,
		AllowInvalidParentSpans: true, // what another program wrote into a header stops no workflow
		SpanStarter: func(ctx context.Context, tracer trace.Tracer, name string, options ...trace.SpanStartOption) trace.Span {
			if roots[name] {
				// Here and not where the child runs: what is in its header stays the same
				// when it is replayed.
				options = append(options, trace.WithNewRoot(), trace.WithLinks(trace.LinkFromContext(ctx)))
			}
			_, span := tracer.Start(ctx, name, options...)
			return span
		},
	})
	if err != nil {
		return nil, fmt.Errorf("trace workflows: %w", err)
	}
	return []interceptor.ClientInterceptor{interceptor.NewTracingInterceptor(discreet{inner})}, nil
}

// discreet keeps the texts of errors out of spans: they may quote a dataset, or what
// a model replied.
type discreet struct{ interceptor.Tracer }

// discreetSpan is a span of the inner tracer.
type discreetSpan struct{ interceptor.TracerSpan }

// Finish tells an error's code only.
func (s discreetSpan) Finish(options *interceptor.TracerFinishSpanOptions) {
	if options.Error == nil {
		s.TracerSpan.Finish(options)
		return
	}
	s.TracerSpan.Finish(&interceptor.TracerFinishSpanOptions{Error: codeOnly(options.Error)})
}

// codeOnly returns an error with the code of err and no text of it. What waits for a
// busy provider stays no failure.
func codeOnly(err error) error {
	var application *temporal.ApplicationError
	var timeout *temporal.TimeoutError
	switch {
	case errors.As(err, &application):
		code := application.Type()
		return temporal.NewApplicationErrorWithOptions(code, code, temporal.ApplicationErrorOptions{Category: application.Category()})
	case temporal.IsCanceledError(err):
		return errors.New("canceled")
	case errors.As(err, &timeout):
		return errors.New("timeout")
	default:
		return errors.New("internal")
	}
}

func inner(span any) any {
	if s, ok := span.(discreetSpan); ok {
		return s.TracerSpan
	}
	return span
}

// StartSpan starts a span of the inner tracer.
func (d discreet) StartSpan(options *interceptor.TracerStartSpanOptions) (interceptor.TracerSpan, error) {
	options.Parent = inner(options.Parent)
	span, err := d.Tracer.StartSpan(options)
	if err != nil {
		return nil, err
	}
	return discreetSpan{span}, nil
}

// MarshalSpan returns what goes into a header.
func (d discreet) MarshalSpan(span interceptor.TracerSpan) (map[string]string, error) {
	return d.Tracer.MarshalSpan(inner(span).(interceptor.TracerSpan))
}

// ContextWithSpan returns a context under which spans are the span's children.
func (d discreet) ContextWithSpan(ctx context.Context, span interceptor.TracerSpan) context.Context {
	return d.Tracer.ContextWithSpan(ctx, inner(span).(interceptor.TracerSpan))
}

// GetLogger returns a logger whose lines name the span.
func (d discreet) GetLogger(logger log.Logger, span interceptor.TracerSpanRef) log.Logger {
	return d.Tracer.GetLogger(logger, inner(span))
}
