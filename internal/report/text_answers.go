package report

import (
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/internal/score"
)

// answers writes how the detector answered, as far as there is something to tell.
func (t *text) answers(a Answers) {
	if a.Orders != nil {
		t.orders(*a.Orders)
	}
	if a.Analytic != nil {
		t.analytic(*a.Analytic)
	}
	if q := a.Quotes; q.Occurring != nil {
		t.prose("Quotes: %d of %d (%s, %s) have words that stand in the text as quoted; %d of %d asked for gave none",
			q.Occurring.Hits, q.Occurring.N, word(q.Occurring.Value), between(q.Occurring.Low, q.Occurring.High), q.Asked-q.Given, q.Asked)
		t.line("")
	}
}

func (t *text) orders(o Orders) {
	t.line("Option order, both asked of %d %s:", o.N, plural(o.N, "dialogue"))
	t.prose("  flips: %d of %d decided in both orders, rate %s (%s); %d to YES and %d to NO when the letters are exchanged",
		o.Flips.Hits, o.Flips.N, word(o.Flips.Value), between(o.Flips.Low, o.Flips.High), o.ToYes, o.ToNo)
	t.prose("  mean shift of p(YES) when the letters are exchanged: %s (%s), over %d; unobserved in one order or both: %d",
		signed(o.Shift.Value), between(o.Shift.Low, o.Shift.High), o.Shift.N, o.Unobserved)
	t.prose("  UNRESOLVED: %d, of them %d because the orders decided differently, %d decided in one order only, %d in none",
		o.Unresolved, o.Flips.Hits, o.OneDecided, o.NoDecided)
	t.line("")
}

func (t *text) analytic(a Analytic) {
	t.prose("Votes not drawn: of %d %s (%s) the mean probability that most passes would say YES is %s, that drawn passes would give the same label %s; exactly undecided: %d",
		a.N, plural(a.N, "distribution"), printable(strings.Join(a.Methods, ", ")), word(a.MeanMajority), word(a.MeanLabel), a.Undecided)
	t.line("")
}

func (t *text) passes(title string, p Passes) {
	parts := []string{fmt.Sprintf("%d constrained, %d fallback, %d INVALID, %d missing", p.Constrained, p.Fallback, p.Invalid, p.Missing)}
	if p.Parsed > 0 {
		parts = append(parts, fmt.Sprintf("%d parsed from free answers", p.Parsed))
	}
	if p.NotNeeded > 0 {
		parts = append(parts, fmt.Sprintf("%d not needed (the verdict was settled: calls saved)", p.NotNeeded))
	}
	if p.NotDrawn > 0 {
		parts = append(parts, fmt.Sprintf("%d not drawn (analytic)", p.NotDrawn))
		if p.Constrained+p.Parsed+p.Fallback+p.Invalid+p.Missing+p.NotNeeded == 0 {
			parts = parts[1:]
		}
	}
	t.prose("%s: %s", title, strings.Join(parts, ", "))
}

func (t *text) modalities(m Modalities, people []People) {
	t.result("Result by text on unseen dialogues", m.Text.Result, people...)
	t.measures(m.Text.Measures)
	t.answers(m.Text.Answers)
	if m.Text.Tactics.All.N > m.Text.TacticsYes.N+m.Text.TacticsNo.N {
		t.tactics("Tactics by text, of all unseen dialogues", m.Text.Tactics.All)
	}
	t.prose("Modality gap, audio minus text, of the same dialogues: %d have a verdict by both; UNRESOLVED is neither right nor wrong, so that the gap is of those decided by both:", m.Paired)
	recall, specificity := m.Gaps.Recall, m.Gaps.Specificity
	t.table("\tn\taudio\ttext\tgap\t95% interval\tMcNemar's exact p", t.gap("recall", recall), t.gap("specificity", specificity))
	t.table("right by\taudio alone\ttext alone\tUNRESOLVED by either\tgap with these", pairs("recall", recall), pairs("specificity", specificity))
	if n := len(m.Dropped); n > 0 {
		t.line("Not in the gap: %d", n)
		t.list(n, func(i int) string { return printable(m.Dropped[i].ID) + ": " + m.Dropped[i].Reason })
	}
}

func (t *text) gap(name string, g score.Gap) string {
	return fmt.Sprintf("%s\t%d\t%s\t%s\t%s\t%s\t%s", name, g.N, t.figure(g.First.Value), t.figure(g.Second.Value),
		t.difference(g.Difference), differences(g.Low, g.High), t.probability(g.McNemar))
}

func pairs(name string, g score.Gap) string {
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%s", name, g.OnlyFirst, g.OnlySecond, g.Open, differences(g.Lowest, g.Highest))
}

func differences(low, high score.Figure) string {
	if !low.Defined {
		return "-"
	}
	return fmt.Sprintf("%+.3f to %+.3f", low.Value, high.Value)
}

func (t *text) difference(f score.Figure) string {
	if !f.Defined {
		return t.figure(f)
	}
	return signed(f)
}

// probability is a p-value's cell.
func (t *text) probability(f score.Figure) string {
	if f.Defined && f.Value < 0.001 {
		return "< 0.001"
	}
	return t.figure(f)
}

func signed(f score.Figure) string {
	if !f.Defined {
		return word(f)
	}
	return fmt.Sprintf("%+.3f", f.Value)
}

// between is an interval in prose.
func between(low, high score.Figure) string {
	if !low.Defined {
		return "no interval"
	}
	return fmt.Sprintf("95%% interval %.3f to %.3f", low.Value, high.Value)
}
