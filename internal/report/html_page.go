package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/score"
)

// page is what the template shows: the report, and what is made of it for people
// to look at.
type page struct {
	Report
	Policy        string
	Style, Script inlined

	Model     string
	Money     string // "" when no prices were given
	Budget    string
	Headline  resultView
	Tactics   barChart
	Histogram histogram
	Curve     curve
	Causes    []cause
	Settings  []setting
	Rows      []row
	Named     []string // the tactics to filter by
	Swapped   bool
}

func newPage(r Report, media Media) (page, error) {
	style, err := inline("style", "style.css")
	if err != nil {
		return page{}, err
	}
	script, err := inline("script", "report.js")
	if err != nil {
		return page{}, err
	}
	settings, err := listSettings(r.Settings)
	if err != nil {
		return page{}, err
	}
	out := page{
		Report: r,
		Style:  style, Script: script, Policy: policy(style, script, media.clips()),
		Model:     outside(cmp.Or(r.Settings.Spec.Detection.ModelName, r.Settings.Engines.Detector.Model, "not known yet")),
		Headline:  newResultView("headline", "", r.Result),
		Tactics:   tacticBars("tactics-all", "Tactics of all unseen dialogues called YES", r.Answers.Tactics.All),
		Histogram: newHistogram(scored(r.Dialogues, first)),
		Curve:     newCurve(r.Reliability),
		Causes:    causes(r.Failures),
		Settings:  settings,
		Swapped:   r.Orders != nil,
	}
	if r.Cost.Currency != "" {
		out.Money = amount(r.Cost.Currency, r.Cost.Money)
		if bound := r.Cost.Budget.Money; bound > 0 {
			out.Budget = amount(r.Cost.Currency, bound)
		}
	}
	for _, d := range r.Dialogues {
		line := newRow(d, media[d.Rendition()])
		out.Rows = append(out.Rows, line)
		if line.Tactic != "" && !slices.Contains(out.Named, line.Tactic) {
			out.Named = append(out.Named, line.Tactic)
		}
	}
	slices.Sort(out.Named)
	return out, nil
}

// outside makes text from outside visible as it is: what is not printable would
// hide, or turn the text around it.
func outside(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return escape(s)
	}
	return s
}

// within is an interval in a table's cell.
func within(low, high score.Figure) string {
	if !low.Defined {
		return "-"
	}
	return fmt.Sprintf("%.3f to %.3f", low.Value, high.Value)
}

// resultView is a score.Result with its pictures.
type resultView struct {
	ID, Title string
	score.Result
	Rates     []rateLine
	Pictured  intervalChart
	Yes, No   barChart
	Accuracy  intervalChart
	Baselines []baselineLine
}

// rateLine is a headline figure beside what constant verdicts reach.
type rateLine struct {
	Name                   string
	Value, Low, High       score.Figure
	N                      int
	Worst, Best            score.Figure
	AlwaysYes, MajoritySay score.Figure
}

// baselineLine is the detector's, or a baseline's, line.
type baselineLine struct {
	Name string
	score.Classification
}

func newResultView(id, title string, of any) resultView {
	r, ok := of.(score.Result)
	if p, is := of.(*score.Result); is && p != nil {
		r, ok = *p, true
	}
	out := resultView{ID: id, Title: title, Result: r}
	if !ok {
		return out
	}
	c := r.Classification
	balanced := c.Intervals.BalancedAccuracy
	out.Rates = []rateLine{
		{Name: "recall (truth YES)", Value: c.Intervals.Recall.Value, Low: c.Intervals.Recall.Low, High: c.Intervals.Recall.High, N: c.Intervals.Recall.N, Worst: c.Worst.Yes.Recall, Best: c.Best.Yes.Recall},
		{Name: "specificity (truth NO)", Value: c.Intervals.Specificity.Value, Low: c.Intervals.Specificity.Low, High: c.Intervals.Specificity.High, N: c.Intervals.Specificity.N, Worst: c.Worst.No.Recall, Best: c.Best.No.Recall},
		{Name: "balanced accuracy", Value: balanced.Value, Low: balanced.Low, High: balanced.High, N: c.Decided, Worst: c.Worst.BalancedAccuracy, Best: c.Best.BalancedAccuracy},
		{Name: "accuracy", Value: c.Accuracy, Low: c.Intervals.Accuracy.Low, High: c.Intervals.Accuracy.High, N: c.Decided, Worst: c.Worst.Accuracy, Best: c.Best.Accuracy},
	}
	out.Baselines = []baselineLine{{"the detector", c}}
	for _, b := range r.Baselines {
		name := b.Name
		if b.Verdict != "" {
			name = fmt.Sprintf("%s (says %s)", b.Name, b.Verdict)
		}
		out.Baselines = append(out.Baselines, baselineLine{name, b.Classification})
		figures := []score.Figure{b.Classification.Yes.Recall, b.Classification.No.Recall, b.Classification.BalancedAccuracy, b.Classification.Accuracy}
		for i := range out.Rates {
			switch b.Name {
			case score.Majority:
				out.Rates[i].MajoritySay = figures[i]
			case score.AlwaysYes:
				out.Rates[i].AlwaysYes = figures[i]
			}
		}
	}
	out.Pictured = rateChart(id, out.Rates)
	out.Yes = tacticBars(id+"-yes", "Tactics of the dialogues called YES whose truth is YES", r.TacticsYes)
	out.No = tacticBars(id+"-no", "Tactics of the dialogues called YES whose truth is NO", r.TacticsNo)
	out.Accuracy = hitChart(id, r.TacticAccuracy)
	return out
}
