//go:build integration && linux

package e2e

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// TestChatOptions asks the same three dialogues in every way that there is, of
// one simulated server.
func TestChatOptions(t *testing.T) {
	t.Parallel() // it waits more than it works
	simulator := chat.New(chat.Options{Dialect: "vllm", Model: "tiny"})
	server := httptest.NewServer(simulator)
	defer server.Close()
	r := newRig(t)
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+server.URL)
	r.worker(t, "--accelerator", "gpu-test", "--pool", "chat")
	chatArgs := func(id string, args ...string) []string {
		return append([]string{"--id", id, "--detector", "chat", "--accelerator", "gpu-test", "--pool", "chat", "--limit", "3", "--quality", "off"}, args...)
	}
	evaluate := func(t *testing.T, id string, args ...string) report.Report {
		t.Helper()
		built := r.evaluate(t, chatArgs(id, args...)...)
		if built.N != 3 || len(built.Failures) != 0 || built.Pending != 0 {
			t.Fatalf("%s: n %d, %d pending, failures %v", id, built.N, built.Pending, built.Failures)
		}
		return built
	}
	labels := func(built report.Report) string {
		var out []string
		for _, d := range built.Dialogues {
			out = append(out, fmt.Sprint(d.ID, " ", d.Verdict.Verdict))
		}
		return strings.Join(out, ", ")
	}
	sampled := evaluate(t, "sampled")

	t.Run("early stop says the same with fewer calls", func(t *testing.T) {
		early := evaluate(t, "early", "--votes", "early-stop", "--passes", "fresh")
		if labels(early) != labels(sampled) {
			t.Errorf("early stop says %s, all passes say %s", labels(early), labels(sampled))
		}
		for _, d := range early.Dialogues {
			if n := len(d.Passes); n < 3 || n > 5 {
				t.Errorf("%s: %d passes", d.ID, n)
			}
		}
	})
	t.Run("analytic votes draw nothing", func(t *testing.T) {
		for _, d := range evaluate(t, "analytic", "--votes", "analytic").Dialogues {
			if len(d.Passes) != 0 || d.Analytic == nil || (d.Analytic.Majority > 500_000_000) != (d.Verdict.Verdict == vote.Yes) {
				t.Errorf("%s: %d passes, %+v, %s", d.ID, len(d.Passes), d.Analytic, d.Verdict.Verdict)
			}
		}
	})
	t.Run("both orders", func(t *testing.T) {
		for _, d := range evaluate(t, "orders", "--option-order", "both").Dialogues {
			if d.Swapped == nil || len(d.Swapped.Passes) != 5 {
				t.Errorf("%s: %+v", d.ID, d.Swapped)
				continue
			}
			agree := d.Swapped.Straight.Verdict == d.Swapped.Verdict.Verdict
			if want := map[bool]vote.Verdict{true: d.Swapped.Verdict.Verdict, false: vote.Unresolved}[agree]; d.Verdict.Verdict != want {
				t.Errorf("%s: %s and %s give %s", d.ID, d.Swapped.Straight.Verdict, d.Swapped.Verdict.Verdict, d.Verdict.Verdict)
			}
		}
	})
	t.Run("both modalities", func(t *testing.T) {
		for _, d := range evaluate(t, "gap", "--modality", "both").Dialogues {
			if d.Text == nil || len(d.Text.Passes) != 5 || len(d.Passes) != 5 {
				t.Errorf("%s: text %+v", d.ID, d.Text)
			}
		}
	})
	t.Run("what was recognised", func(t *testing.T) { evaluate(t, "asr", "--modality", "asr") })
	t.Run("exemplars", func(t *testing.T) {
		few := evaluate(t, "few", "--prompt", "few-shot")
		again := evaluate(t, "few-again", "--prompt", "few-shot")
		if labels(few) != labels(again) || again.Usage.PassesMade != 0 {
			t.Errorf("%s, then %s with %d passes made", labels(few), labels(again), again.Usage.PassesMade)
		}
		if few.Settings.Engines.Exemplars.IsZero() || few.Settings.Engines.Rendering.TurnsMade == 0 {
			t.Errorf("engines %+v", few.Settings.Engines)
		}
	})
	t.Run("exemplars as text", func(t *testing.T) { evaluate(t, "few-text", "--prompt", "few-shot", "--modality", "text") })
	t.Run("thoughts first", func(t *testing.T) { evaluate(t, "thoughts", "--prompt", "chain-of-thought") })
	t.Run("drawn tactics", func(t *testing.T) { evaluate(t, "drawn", "--tactic-draw", "sample") })
	t.Run("analytic votes after thoughts are refused", func(t *testing.T) {
		_, errOut, err := r.try(t, append([]string{"evaluate"}, chatArgs("refused", "--prompt", "chain-of-thought", "--votes", "analytic")...)...)
		if err == nil || !strings.Contains(errOut, "early-stop") || strings.Contains(errOut, "scheduledEventID") {
			t.Errorf("error %v, stderr %s", err, errOut)
		}
	})
	t.Run("a budget pauses, and a larger one resumes", func(t *testing.T) {
		r.starter(t, append([]string{"evaluate", "--detach"}, chatArgs("budget", "--passes", "fresh", "--max-calls", "25", "--dialogues", "1")...)...)
		waitFor(t, time.Minute, "the budget's pause", func() bool {
			return strings.Contains(r.starter(t, "status", "budget"), evaluation.ReasonBudget)
		})
		r.starter(t, "resume", "budget", "--max-calls", "500")
		built := decode(t, r.starter(t, "watch", "budget", "--json"))
		if built.N != 3 || len(built.Failures) != 0 {
			t.Errorf("n %d, failures %v", built.N, built.Failures)
		}
	})
	t.Run("an operator's pause", func(t *testing.T) {
		r.starter(t, append([]string{"evaluate", "--detach"}, chatArgs("paused", "--passes", "fresh", "--dialogues", "1")...)...)
		r.starter(t, "pause", "paused", "--reason", "lunch")
		waitFor(t, time.Minute, "the pause", func() bool { return strings.Contains(r.starter(t, "status", "paused"), "lunch") })
		r.starter(t, "resume", "paused")
		if _, errOut, err := r.try(t, "resume", "paused"); err == nil || !strings.Contains(errOut, "not paused") && !strings.Contains(errOut, "is running") {
			t.Errorf("resumed twice: %v, %s", err, errOut)
		}
		if built := decode(t, r.starter(t, "watch", "paused", "--json")); built.N != 3 {
			t.Errorf("n %d", built.N)
		}
	})
}
