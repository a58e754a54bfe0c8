package report

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/score"
)

// measures writes the figures beyond a result.
func (t *text) measures(m Measures) {
	for _, d := range m.AtPrevalence {
		t.dependent(d)
	}
	t.prose("AUC of p(YES) before sampling: %s", estimate(m.AUC))
	t.reliability(m.Reliability)
	t.annotated(m.Annotated)
	t.breakdowns(m.Breakdowns)
}

func (t *text) dependent(d score.Dependent) {
	row := func(name string, e score.Estimate) string {
		return fmt.Sprintf("%s\t%s\t%s", name, t.figure(e.Value), t.drawn(e))
	}
	t.table(
		fmt.Sprintf("at prevalence %s (%.3f)\tvalue\t95%% interval (bootstrap)", d.Prevalence.Stated, d.Prevalence.Share),
		row("precision", d.Precision), row("negative predictive value", d.NPV), row("F1", d.F1), row("accuracy", d.Accuracy), row("MCC", d.MCC),
	)
}

// drawn is an estimate's interval as a table's cell.
func (t *text) drawn(e score.Estimate) string {
	if !e.Low.Defined {
		if e.Low.Reason == e.Value.Reason {
			return "-"
		}
		return t.figure(e.Low)
	}
	return fmt.Sprintf("%.3f to %.3f", e.Low.Value, e.High.Value) + undefinedDraws(e)
}

func undefinedDraws(e score.Estimate) string {
	if e.Undefined == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d draws undefined)", e.Undefined)
}

// estimate is an estimate in prose.
func estimate(e score.Estimate) string {
	switch {
	case !e.Value.Defined:
		return word(e.Value)
	case !e.Low.Defined:
		return fmt.Sprintf("%.3f (n = %d, interval %s)", e.Value.Value, e.N, word(e.Low))
	}
	return fmt.Sprintf("%.3f (%s, n = %d)%s", e.Value.Value, between(e.Low, e.High), e.N, undefinedDraws(e))
}

func (t *text) reliability(r Reliability) {
	if r.N == 0 {
		t.prose("Reliability: no item has constrained answers with their probabilities in every pass")
		t.line("")
		return
	}
	t.prose("Reliability of the constrained p(%s) at T = 1, calibrated on nothing (n = %d, %d others): Brier score %s; always saying the share of YES has %s",
		r.Letter, r.N, r.Others, estimate(r.Brier), word(r.BrierPrevalence))
	rows := []string{fmt.Sprintf("p(%s)\tmean\tn\ttruth YES\t95%% interval", r.Letter)}
	for _, b := range r.Bins {
		rows = append(rows, fmt.Sprintf("%.3f to %.3f\t%.3f\t%d\t%s\t%s", b.From, b.To, b.Mean, b.Yes.N, t.figure(b.Yes.Value), t.span(b.Yes.Low, b.Yes.High)))
	}
	t.table(rows...)
}

// annotated writes which annotated tactics the verdicts find.
func (t *text) annotated(a AnnotatedTactics) {
	if a.All.N == 0 {
		return
	}
	t.prose("Annotated tactics of the manipulative items, %s, by verdict:", fmt.Sprintf("%d %s", a.All.N, plural(a.All.N, "mention")))
	rows := []string{"\tall\tcalled YES\tcalled NO\tUNRESOLVED"}
	count := func(table score.TacticTable, row score.TacticRow) int {
		for _, other := range table.Rows {
			if other.Tactic == row.Tactic {
				return other.Count
			}
		}
		return 0
	}
	for _, row := range a.All.Rows {
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%d", row.Tactic, row.Count, count(a.CalledYes, row), count(a.CalledNo, row), count(a.Unresolved, row)))
	}
	t.table(rows...)
}

func (t *text) breakdowns(all []Breakdown) {
	for _, b := range all {
		if len(b.Rows) == 0 {
			continue
		}
		t.prose("%s (exploratory). %s", b.Title, b.Note)
		rows := []string{"part\tn\topen\trecall\t95% interval\tspecificity\t95% interval"}
		for _, row := range b.Rows[:min(len(b.Rows), maxListed)] {
			rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%s\t%s\t%s\t%s", printable(row.Name), row.N, row.Unresolved+row.Failed,
				t.short(row.Recall.Value), within(row.Recall.Low, row.Recall.High), t.short(row.Specificity.Value), within(row.Specificity.Low, row.Specificity.High)))
		}
		t.rows(rows...)
		if more := len(b.Rows) - maxListed; more > 0 {
			t.line("  and %d more", more)
		}
		t.line("")
	}
}

// short is a figure whose reason a table's n tells.
func (t *text) short(f score.Figure) string {
	if !f.Defined {
		return "undefined"
	}
	return fmt.Sprintf("%.3f", f.Value)
}

func (t *text) tests(tests []Test) {
	if len(tests) == 0 {
		t.line("Confirmatory tests: none")
		t.line("")
		return
	}
	t.prose("All %d confirmatory tests, exact McNemar, two-sided, with Holm's correction for all of them:", len(tests))
	rows := []string{"right in one alone\ttruth\tn\tfirst\tsecond\tp\tHolm"}
	for _, test := range tests {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%s\t%s", test.Name, test.Truth, test.N, test.OnlyFirst, test.OnlySecond, t.probability(test.P), t.probability(test.Holm)))
	}
	t.table(rows...)
}

// reading writes what to know of the figures.
func (t *text) reading(r Report) {
	t.line("")
	t.line("How to read it:")
	for _, c := range r.Caveats {
		t.prose("  %s", c)
	}
	told := "The detector doesn't say what it was trained on."
	if r.Contamination.Told {
		told = fmt.Sprintf("Of the dialogues, %d are in the detector's own list of what it was trained or tuned on.", r.Contamination.Seen)
	}
	t.prose("  %s %s.", told, r.Contamination.Public)
	t.prose("  Bootstrap: %d draws of dialogues within each truth, seed %d.", r.Bootstrap.Draws, r.Bootstrap.Seed)
}
