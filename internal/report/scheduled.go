package report

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// scheduledLine says in one line what a schedule's firing found.
func scheduledLine(o evaluation.Outcome) string {
	return fmt.Sprintf("Schedule %s, look %d: regression %s, changed since the baseline: %s, canary %s", o.Schedule, o.Look, o.Regression, o.Drift.Cause, o.Drift.Canary.Words())
}

func (t *text) scheduled(o *evaluation.Outcome) {
	if o == nil {
		return
	}
	t.prose("%s", scheduledLine(*o))
	for _, finding := range o.Findings() {
		t.prose("  %s", printable(finding))
	}
	t.line("")
}
