package evaluation

import (
	"fmt"
	"strconv"
	"strings"
)

// Findings says in sentences what an outcome found that a person should read: a loss,
// what could not be checked, and a change. Nothing else is said.
func (o Outcome) Findings() []string {
	var out []string
	for _, a := range o.Against {
		against := "against " + a.Evaluation
		if a.Baseline {
			against += ", the baseline"
		}
		for _, c := range a.Checks {
			if c.Shown {
				out = append(out, c.Sentence()+" ("+against+", look "+strconv.Itoa(o.Look)+")")
			}
		}
		for _, why := range a.Unchecked {
			out = append(out, "not checked "+against+": "+why)
		}
	}
	if o.Drift.Cause != CauseNone && (o.Drift.Canary.Items > 0 || o.Drift.Data != DataChange{}) {
		out = append(out, o.Drift.Sentence())
	}
	for _, s := range o.Drift.Server {
		out = append(out, fmt.Sprintf("the detector says of itself: %s is %q, was %q", s.Name, s.Now, s.Was))
	}
	if o.Failed > 0 {
		out = append(out, fmt.Sprintf("%d of %d dialogues failed", o.Failed, o.Items))
	}
	return out
}

// Words says what a canary showed.
func (c Canary) Words() string {
	var parts []string
	if c.Shift.Defined {
		parts = append(parts, fmt.Sprintf("moved by %.3f (n = %d)", c.Shift.Value, c.Observed))
	}
	if c.P.Defined {
		parts = append(parts, fmt.Sprintf("votes p = %.4f (n = %d)", c.P.Value, c.Counted))
	}
	if len(parts) == 0 {
		return "no answer to compare"
	}
	return strings.Join(parts, ", ")
}

// Sentence says in one line what has changed since the baseline.
func (d Drift) Sentence() string {
	switch d.Cause {
	case CauseModel, CauseBoth:
		s := "the model changed: the canary's clips are the same, its answers are not"
		if d.Cause == CauseBoth {
			s += "; the data changed too: " + d.Data.words()
		}
		return s
	case CauseData:
		return "the data changed: " + d.Data.words()
	case CauseUnknown:
		s := "whether the model changed is not known: the canary has no answers to compare"
		if (d.Data != DataChange{}) {
			s += "; the data changed: " + d.Data.words()
		}
		return s
	}
	return "neither the canary nor the data shows a change"
}

func (d DataChange) words() string {
	return fmt.Sprintf("%d dialogues missing, %d added, %d with another text, truth or clip", d.Missing, d.Added, d.Other)
}
