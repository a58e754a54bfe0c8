package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
)

// What a schedule found stands in every form that people read, escaped.
func TestScheduledIsShown(t *testing.T) {
	r := Report{Scheduled: &evaluation.Outcome{
		Schedule: "nightly", Evaluation: "nightly-1", Look: 3, Regression: evaluation.RegressionShown,
		Drift:   evaluation.Drift{Cause: evaluation.CauseModel, Server: []evaluation.ServerChange{{Name: "model", Was: "m", Now: "<blink>\x1b[2J"}}},
		Against: []evaluation.Against{{Evaluation: "base", Baseline: true, Checks: []score.Loss{{Metric: score.MetricRecall, Shown: true}}}},
	}}
	for name, write := range map[string]Writer{"text": WriteText, "page": WriteHTML} {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range []string{"Schedule nightly, look 3: regression shown, changed since the baseline: model", "REGRESSION: recall", "against base, the baseline"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing", name, want)
			}
		}
		if strings.Contains(got, "\x1b") || name == "page" && strings.Contains(got, "<blink>") {
			t.Errorf("%s: text from outside is not escaped", name)
		}
	}
}
