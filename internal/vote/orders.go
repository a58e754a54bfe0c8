package vote

// Combine returns what the question with the option letters in their usual order
// and in the other one decide together: equal verdicts stand, others are
// UNRESOLVED. All counts are those of both together, Margin is of these counts.
func Combine(straight, swapped Outcome) Outcome {
	out := Outcome{
		Verdict:     Unresolved,
		Yes:         straight.Yes + swapped.Yes,
		No:          straight.No + swapped.No,
		Invalid:     straight.Invalid + swapped.Invalid,
		Missing:     straight.Missing + swapped.Missing,
		Ignored:     straight.Ignored + swapped.Ignored,
		Constrained: straight.Constrained + swapped.Constrained,
		Parsed:      straight.Parsed + swapped.Parsed,
		Fallback:    straight.Fallback + swapped.Fallback,
	}
	out.Margin = max(out.Yes-out.No, out.No-out.Yes)
	if straight.Verdict == swapped.Verdict {
		out.Verdict = straight.Verdict
	}
	return out
}
