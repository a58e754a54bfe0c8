package report

import (
	"io"
	"strconv"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/score"
)

// figures gathers rows of a table of figures. What is undefined is an empty cell
// with the reason as its note.
type figures [][]string

// WriteFiguresCSV writes one row a figure of the whole evaluation: its name, its
// value, its 95% interval, and the n that it is of.
func WriteFiguresCSV(w io.Writer, r Report) error {
	f := figures{{"figure", "value", "low", "high", "n", "note"}}
	clip := string(r.Settings.Spec.Detection.Modalities()[0])
	f.result(clip, r.Result)
	f.measures(clip, r.Measures)
	f.answers(clip, r.Answers)
	if m := r.Modalities; m != nil {
		f.result(string(detect.Text), m.Text.Result)
		f.measures(string(detect.Text), m.Text.Measures)
		f.answers(string(detect.Text), m.Text.Answers)
		f.gap("gap.recall", m.Gaps.Recall)
		f.gap("gap.specificity", m.Gaps.Specificity)
		f.count("gap.dropped", len(m.Dropped), r.N)
	}
	f.beside(r)
	f.voices(r.Voices)
	f.count("usage.calls", r.Cost.Calls, r.Items)
	f.count("usage.credits", r.Cost.Credits, r.Items)
	f.note("usage.money", money(r.Cost), r.Cost.Currency)
	if !r.Cost.Budget.IsZero() {
		f.count("budget.calls", r.Cost.Budget.Calls, r.Items)
		f.count("budget.calls_over", r.Cost.Over.Calls, r.Items)
		f.note("budget.money", millionths(r.Cost.Budget.Money), r.Cost.Currency)
		f.note("budget.money_over", millionths(r.Cost.Over.Money), r.Cost.Currency)
	}
	for _, e := range r.Shown {
		f.note("exemplar.shown", e.ID, string(e.Vote))
	}
	for _, c := range r.LeftOut {
		f.note("exemplar.left_out", strconv.Itoa(c.Count), c.Reason)
	}
	for _, fact := range r.Server {
		f.note("server", fact.Value, fact.Name)
	}
	return writeRows(w, f)
}

func (f *figures) result(modality string, r score.Result) {
	c := r.Classification
	f.rate(modality+".recall", c.Intervals.Recall)
	f.rate(modality+".specificity", c.Intervals.Specificity)
	f.rate(modality+".accuracy", c.Intervals.Accuracy)
	balanced := c.Intervals.BalancedAccuracy
	f.interval(modality+".balanced_accuracy", balanced.Value, balanced.Low, balanced.High, balanced.N)
	f.figure(modality+".macro_f1", c.Macro.F1, c.Decided)
	f.count(modality+".unresolved", c.Unresolved, c.N)
	f.count(modality+".failed", c.Failed, c.N)
	for _, b := range r.Baselines {
		accuracy, balanced := b.Classification.Accuracy, b.Classification.BalancedAccuracy
		if b.Undefined != "" {
			accuracy = score.Figure{Reason: b.Undefined}
			balanced = accuracy
		}
		f.figure(modality+".baseline."+b.Name+".accuracy", accuracy, b.Classification.Decided)
		f.figure(modality+".baseline."+b.Name+".balanced_accuracy", balanced, b.Classification.Decided)
	}
}

func (f *figures) measures(modality string, m Measures) {
	for _, d := range m.AtPrevalence {
		name := modality + ".at_prevalence." + d.Prevalence.Stated
		f.estimate(name+".precision", d.Precision)
		f.estimate(name+".negative_predictive_value", d.NPV)
		f.estimate(name+".f1", d.F1)
		f.estimate(name+".accuracy", d.Accuracy)
		f.estimate(name+".mcc", d.MCC)
	}
	f.estimate(modality+".auc", m.AUC)
	f.estimate(modality+".brier", m.Reliability.Brier)
}

// beside writes what other people, other truths and all tests say.
func (f *figures) beside(r Report) {
	for _, p := range r.People {
		name := "people." + string(p.Modality)
		f.rate(name+".recall", p.People.Intervals.Recall)
		f.rate(name+".specificity", p.People.Intervals.Specificity)
		f.rate(name+".agree", p.Agree)
		f.figure(name+".leave_one_out", p.LeaveOneOut.Share, p.LeaveOneOut.Votes)
	}
	for _, truths := range r.Truths {
		for _, s := range truths.Sets {
			name := "truth." + string(truths.Modality) + "." + s.Name
			f.rate(name+".recall", s.Own.Intervals.Recall)
			f.rate(name+".specificity", s.Own.Intervals.Specificity)
		}
	}
	for _, t := range r.Tests {
		name := "test." + t.Name + "." + string(t.Truth)
		f.figure(name+".p", t.P, t.N)
		f.figure(name+".holm", t.Holm, t.N)
	}
}

func (f *figures) answers(modality string, a Answers) {
	p := a.Passes
	made := p.Constrained + p.Parsed + p.Fallback + p.Invalid
	all := made + p.Missing + p.NotNeeded + p.NotDrawn
	f.count(modality+".passes.constrained", p.Constrained, made)
	f.count(modality+".passes.parsed", p.Parsed, made)
	f.count(modality+".passes.fallback", p.Fallback, made)
	f.count(modality+".passes.invalid", p.Invalid, made)
	f.count(modality+".passes.missing", p.Missing, all)
	f.count(modality+".passes.not_needed", p.NotNeeded, all)
	f.count(modality+".passes.not_drawn", p.NotDrawn, all)
	if o := a.Orders; o != nil {
		f.rate(modality+".option_order.flips", o.Flips)
		f.mean(modality+".option_order.shift", o.Shift)
		f.count(modality+".option_order.unobserved", o.Unobserved, o.N)
		f.count(modality+".option_order.unresolved", o.Unresolved, o.N)
	}
	if d := a.Analytic; d != nil {
		f.figure(modality+".analytic.mean_majority", d.MeanMajority, d.N)
		f.figure(modality+".analytic.mean_label", d.MeanLabel, d.N-d.Undecided)
		f.count(modality+".analytic.undecided", d.Undecided, d.N)
	}
	f.count(modality+".quotes.given", a.Quotes.Given, a.Quotes.Asked)
	if a.Quotes.Occurring != nil {
		f.rate(modality+".quotes.occurring", *a.Quotes.Occurring)
	}
}

func (f *figures) gap(name string, g score.Gap) {
	f.interval(name, g.Difference, g.Low, g.High, g.N)
	f.figure(name+".mcnemar_p", g.McNemar, g.N)
	f.figure(name+".lowest", g.Lowest, g.N+g.Open)
	f.figure(name+".highest", g.Highest, g.N+g.Open)
}

func (f *figures) rate(name string, r score.Rate) { f.interval(name, r.Value, r.Low, r.High, r.N) }

func (f *figures) mean(name string, m score.Mean) { f.interval(name, m.Value, m.Low, m.High, m.N) }

func (f *figures) estimate(name string, e score.Estimate) {
	f.interval(name, e.Value, e.Low, e.High, e.N)
	if last := (*f)[len(*f)-1]; e.Value.Defined && !e.Low.Defined {
		last[5] = "no interval: " + e.Low.Reason
	}
}

func (f *figures) figure(name string, value score.Figure, n int) {
	f.interval(name, value, score.Figure{}, score.Figure{}, n)
}

func (f *figures) interval(name string, value, low, high score.Figure, n int) {
	row := []string{cell(name), "", "", "", strconv.Itoa(n), value.Reason}
	for i, figure := range []score.Figure{value, low, high} {
		if figure.Defined {
			row[1+i] = strconv.FormatFloat(figure.Value, 'f', 6, 64)
		}
	}
	*f = append(*f, row)
}

func (f *figures) count(name string, value, n int) {
	*f = append(*f, []string{cell(name), strconv.Itoa(value), "", "", strconv.Itoa(n), ""})
}

func (f *figures) note(name, value, note string) {
	*f = append(*f, []string{cell(name), cell(value), "", "", "", cell(note)})
}
