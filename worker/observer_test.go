package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/telemetry"
	"github.com/speechmanip/speechmanip/internal/vote"
)

var _ activities.Observer = (*observer)(nil)

func newTestObserver(t *testing.T) (*observer, func() string) {
	t.Helper()
	m, err := telemetry.NewMetrics(zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	o, err := newObserver(m.Meter(), noop.NewTracerProvider().Tracer(""), []string{"flite"})
	if err != nil {
		t.Fatal(err)
	}
	return o, func() string {
		answer := httptest.NewRecorder()
		m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		return answer.Body.String()
	}
}

func TestObserver(t *testing.T) {
	o, scrape := newTestObserver(t)
	now := time.Unix(0, 0)
	o.now = func() time.Time { return now }
	_, end := o.Call(t.Context(), "SynthesizeTurn", "flite")
	now = now.Add(70 * time.Millisecond)
	end(nil)
	for _, err := range []error{
		&fault.Error{Kind: fault.Wait, Code: "too_many"}, fmt.Errorf("ask: %w", context.DeadlineExceeded), errors.New("who knows"), context.Canceled,
		&fault.Error{Kind: fault.Permanent, Code: "You said: <never>"},
	} {
		_, end := o.Call(t.Context(), "DetectPass", "chat")
		end(err)
	}
	prices := evaluation.Prices{Currency: "USD", Credit: 300, DetectorCall: 2_000_000}
	o.Used("elevenlabs", evaluation.Usage{TurnsMade: 1, Characters: 40, Credits: 20}, prices)
	o.Used("elevenlabs", evaluation.Usage{TurnsStored: 1}, prices)
	o.Used("chat", evaluation.Usage{PassesMade: 1, Questions: 3}, prices)
	o.Used("", evaluation.Usage{ClipsStored: 1}, evaluation.Prices{})
	o.Used("pocketsphinx", evaluation.Usage{Recognized: 1}, evaluation.Prices{})
	o.Tokens("chat", 500, 3)
	o.Composed(20, 50*time.Millisecond)
	o.Voted("chat", vote.VoteYes)
	o.Recorded(evaluation.Record{Judgement: evaluation.Judgement{Verdict: vote.Outcome{Verdict: vote.Yes}}})
	o.Recorded(evaluation.Record{Failure: &evaluation.Failure{Code: "bad_input"}})
	o.leased("team")(3, 10)
	text := scrape()
	for _, want := range []string{
		`speechmanip_call_duration_seconds_count{activity_type="SynthesizeTurn",engine="flite"} 1`,
		`speechmanip_call_duration_seconds_bucket{activity_type="SynthesizeTurn",engine="flite",le="0.05"} 0`,
		`speechmanip_call_duration_seconds_bucket{activity_type="SynthesizeTurn",engine="flite",le="0.1"} 1`,
		`speechmanip_call_errors_total{code="timeout",engine="flite",kind="transient"} 0`,
		`speechmanip_call_errors_total{code="too_many",engine="chat",kind="wait"} 1`,
		`speechmanip_call_errors_total{code="timeout",engine="chat",kind="transient"} 1`,
		`speechmanip_call_errors_total{code="internal",engine="chat",kind="transient"} 1`,
		`speechmanip_call_errors_total{code="canceled",engine="chat",kind="transient"} 1`,
		`speechmanip_call_errors_total{code="other",engine="chat",kind="permanent"} 1`,
		`speechmanip_turns_total{engine="elevenlabs",source="made"} 1`,
		`speechmanip_turns_total{engine="elevenlabs",source="stored"} 1`,
		`speechmanip_characters_total{engine="elevenlabs"} 40`,
		`speechmanip_credits_total{engine="elevenlabs"} 20`,
		`speechmanip_cost_total{currency="USD",engine="elevenlabs"} 0.006`,
		`speechmanip_cost_total{currency="USD",engine="chat"} 6`,
		`speechmanip_answers_total{engine="chat",source="made"} 1`,
		`speechmanip_detector_requests_total{engine="chat"} 3`,
		`speechmanip_clips_total{source="stored"} 1`,
		`speechmanip_clips_total{source="made"} 1`,
		`speechmanip_transcripts_total{engine="pocketsphinx",source="made"} 1`,
		`speechmanip_tokens_total{direction="read",engine="chat"} 500`,
		`speechmanip_tokens_total{direction="written",engine="chat"} 3`,
		"speechmanip_clip_seconds_total 20",
		"speechmanip_composing_seconds_total 0.05",
		`speechmanip_passes_total{engine="chat",vote="YES"} 1`,
		`speechmanip_dialogues_total{verdict="YES"} 1`,
		`speechmanip_dialogues_total{verdict="FAILED"} 1`,
		`speechmanip_dialogues_total{verdict="NO"} 0`,
		`speechmanip_limiter_slots{account="team"} 3`,
		`speechmanip_limiter_ceiling{account="team"} 10`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// Whatever comes from outside, there are few series.
func TestLabelsAreBounded(t *testing.T) {
	l := newLabels()
	seen := map[string]bool{}
	for i := range 10 * maxLabels {
		seen[l.bound(fmt.Sprint("code_", i))] = true
	}
	if len(seen) != maxLabels+1 || !seen["other"] || l.bound("code_0") != "code_0" {
		t.Errorf("%d values", len(seen))
	}
	for _, value := range []string{"", "two words", strings.Repeat("x", 41), "a\nb", `"`} {
		if got := newLabels().bound(value); got != "other" {
			t.Errorf("%q is %q", value, got)
		}
	}
}
