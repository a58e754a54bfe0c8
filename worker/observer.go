package main

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// observer measures what activities do. It is their activities.Observer.
type observer struct {
	tracer  trace.Tracer
	now     func() time.Time
	engines *labels
	codes   *labels
	money   *labels // currencies

	turns, characters, credits, clips, transcripts, answers, requests, passes, tokens, dialogues, errors metric.Int64Counter
	cost, clipSeconds, composing                                                                         metric.Float64Counter
	calls                                                                                                metric.Float64Histogram
	slots, ceiling                                                                                       metric.Int64Gauge
}

// What was made, and what the store had.
var (
	made   = attribute.String("source", "made")
	stored = attribute.String("source", "stored")
)

// newObserver makes the instruments. The engines are those that this worker may
// call: their errors are counted from zero.
func newObserver(meter metric.Meter, tracer trace.Tracer, engines []string) (*observer, error) {
	i := instruments{meter: meter}
	o := &observer{
		tracer: tracer, now: time.Now, engines: newLabels(), codes: newLabels(), money: newLabels(),
		turns:       i.counter("speechmanip_turns", "Turns whose audio was asked for, by whether it was made or found stored."),
		characters:  i.counter("speechmanip_characters", "Characters sent to a synthesizer."),
		credits:     i.counter("speechmanip_credits", "What a synthesizer says it billed, in its own unit."),
		cost:        i.sum("speechmanip_cost", "", "What calls cost at the evaluations' prices, in the currency's unit."),
		clips:       i.counter("speechmanip_clips", "Clips, by whether they were composed or found stored."),
		transcripts: i.counter("speechmanip_transcripts", "Clips recognised, by whether that was done or found stored."),
		answers:     i.counter("speechmanip_answers", "A detector's answers (preparations, passes, tactics, quotes), made or found stored."),
		requests:    i.counter("speechmanip_detector_requests", "Requests sent to a detector; an answer may take several."),
		passes:      i.counter("speechmanip_passes", "Passes made, by vote."),
		tokens:      i.counter("speechmanip_tokens", "Tokens that a detector read and wrote, as its server counts them."),
		dialogues:   i.counter("speechmanip_dialogues", "Dialogues recorded, by verdict, or FAILED."),
		errors:      i.counter("speechmanip_call_errors", "Failed calls of an engine, by its code and by what has to happen next."),
		clipSeconds: i.sum("speechmanip_clip", "s", "Length of the clips composed."),
		composing:   i.sum("speechmanip_composing", "s", "Time that composing them took."),
		slots:       i.gauge("speechmanip_limiter_slots", "Calls at once that the account's limiter lends this worker."),
		ceiling:     i.gauge("speechmanip_limiter_ceiling", "Calls at once of the account, all workers together."),
		calls:       i.durations("speechmanip_call_duration", "Time that a call of an engine took, by the activity that made it."),
	}
	for _, verdict := range []vote.Verdict{vote.Yes, vote.No, vote.Unresolved, failed} {
		o.dialogues.Add(context.Background(), 0, metric.WithAttributes(attribute.String("verdict", string(verdict))))
	}
	for _, engine := range engines {
		o.errors.Add(context.Background(), 0, o.failure(engine, "timeout", fault.Transient))
	}
	return o, errors.Join(i.errs...)
}

// failed stands in a verdict's place.
const failed vote.Verdict = "FAILED"

// Call times the call and makes it a span.
func (o *observer) Call(ctx context.Context, step, engine string) (context.Context, func(error)) {
	ctx, span := o.tracer.Start(ctx, "call "+o.engines.bound(engine), trace.WithSpanKind(trace.SpanKindClient))
	began := o.now()
	return ctx, func(err error) {
		defer span.End()
		by := metric.WithAttributes(attribute.String("activity_type", step), attribute.String("engine", o.engines.bound(engine)))
		o.calls.Record(ctx, o.now().Sub(began).Seconds(), by)
		if err == nil {
			return
		}
		code, kind := describe(err)
		o.errors.Add(ctx, 1, o.failure(engine, code, kind))
		span.SetStatus(codes.Error, o.codes.bound(code)) // its text may quote a reply
	}
}

func (o *observer) failure(engine, code string, kind fault.Kind) metric.MeasurementOption {
	return metric.WithAttributes(
		attribute.String("engine", o.engines.bound(engine)), attribute.String("code", o.codes.bound(code)), attribute.String("kind", string(kind)),
	)
}

// describe returns the code and the kind of a call's error.
func describe(err error) (code string, kind fault.Kind) {
	var f *fault.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled", fault.Transient
	case errors.As(err, &f) && f.Code != "":
		return f.Code, fault.KindOf(err)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout", fault.KindOf(err)
	}
	return "internal", fault.KindOf(err)
}

// Used counts what a step took.
func (o *observer) Used(engine string, u evaluation.Usage, prices evaluation.Prices) {
	by := attribute.String("engine", o.engines.bound(engine))
	count := func(counter metric.Int64Counter, n int, labels ...attribute.KeyValue) {
		if n > 0 {
			counter.Add(context.Background(), int64(n), metric.WithAttributes(labels...))
		}
	}
	count(o.turns, u.TurnsMade, by, made)
	count(o.turns, u.TurnsStored, by, stored)
	count(o.characters, u.Characters, by)
	count(o.credits, u.Credits, by)
	count(o.clips, u.ClipsStored, stored)
	count(o.transcripts, u.Recognized, by, made)
	count(o.transcripts, u.RecognizedStored, by, stored)
	count(o.answers, u.PassesMade, by, made)
	count(o.answers, u.PassesStored, by, stored)
	count(o.requests, u.Questions, by)
	if money := prices.Cost(u).Money; money > 0 {
		currency := attribute.String("currency", o.money.bound(prices.Currency))
		o.cost.Add(context.Background(), float64(money)/1e6, metric.WithAttributes(by, currency))
	}
}

// Tokens counts them.
func (o *observer) Tokens(detector string, read, written int) {
	by := attribute.String("engine", o.engines.bound(detector))
	if read > 0 {
		o.tokens.Add(context.Background(), int64(read), metric.WithAttributes(by, attribute.String("direction", "read")))
	}
	if written > 0 {
		o.tokens.Add(context.Background(), int64(written), metric.WithAttributes(by, attribute.String("direction", "written")))
	}
}

// Composed counts the clip and its length.
func (o *observer) Composed(clipSeconds float64, took time.Duration) {
	o.clips.Add(context.Background(), 1, metric.WithAttributes(made))
	o.clipSeconds.Add(context.Background(), clipSeconds)
	o.composing.Add(context.Background(), took.Seconds())
}

// Voted counts the pass.
func (o *observer) Voted(detector string, v vote.Vote) {
	o.passes.Add(context.Background(), 1, metric.WithAttributes(
		attribute.String("engine", o.engines.bound(detector)), attribute.String("vote", string(v)),
	))
}

// Recorded counts the dialogue.
func (o *observer) Recorded(r evaluation.Record) {
	verdict := r.Verdict.Verdict
	if r.Failure != nil {
		verdict = failed
	}
	o.dialogues.Add(context.Background(), 1, metric.WithAttributes(attribute.String("verdict", string(verdict))))
}

// leased returns what is told of every lease of an account's slots.
func (o *observer) leased(account string) func(slots, ceiling int) {
	by := metric.WithAttributes(attribute.String("account", account))
	return func(slots, ceiling int) {
		o.slots.Record(context.Background(), int64(slots), by)
		o.ceiling.Record(context.Background(), int64(ceiling), by)
	}
}
