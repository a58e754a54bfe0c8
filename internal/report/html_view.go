package report

import (
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/internal/score"
)

// judgedView is what the page shows of one set of items in one modality. Its ID
// begins the ids of the elements that it becomes.
type judgedView struct {
	ID string
	score.Result
	Figures     grid
	Pictured    intervalChart
	Baselines   grid
	Yes, No     barChart // tactics of those called YES, by truth
	Accuracy    intervalChart
	AccuracyFor grid

	// The rest is of headline items alone.
	Answers    *Answers
	All        barChart // tactics of those called YES, whatever their truth
	Annotated  []barChart
	Prevalence []grid
	AUC        string
	Histogram  histogram
	Curve      curve
	Breakdowns []Breakdown
	Parts      []grid // of Breakdowns, as many
}

// newView takes a result, and people where they stand beside it.
func newView(id string, r score.Result, h Headline, people []People) judgedView {
	return judgedView{
		ID: id, Result: r,
		Figures: headlineGrid(r, h, people), Pictured: headlineChart(id, h),
		Baselines:   baselineGrid(r, people),
		Yes:         tacticBars(id+"-yes", "Tactics of the dialogues called YES whose truth is YES", r.TacticsYes),
		No:          tacticBars(id+"-no", "Tactics of the dialogues called YES whose truth is NO", r.TacticsNo),
		Accuracy:    hitChart(id, r.TacticAccuracy),
		AccuracyFor: hitGrid(r.TacticAccuracy),
	}
}

// measured adds what is known of the headline items.
func (v judgedView) measured(m Measures, a Answers, judged []judgedItem) judgedView {
	v.Answers = &a
	v.All = tacticBars(v.ID+"-all", "Tactics of all unseen dialogues called YES", a.Tactics.All)
	for _, of := range []struct {
		id, title string
		table     score.TacticTable
	}{
		{"annotated", "Annotated tactics of all manipulative dialogues", m.Annotated.All},
		{"called-yes", "Annotated tactics of those called YES", m.Annotated.CalledYes},
		{"called-no", "Annotated tactics of those called NO", m.Annotated.CalledNo},
		{"unresolved", "Annotated tactics of those left UNRESOLVED", m.Annotated.Unresolved},
	} {
		bars := tacticBars(v.ID+"-"+of.id, of.title, of.table)
		bars.Of = "mentions"
		v.Annotated = append(v.Annotated, bars)
	}
	for _, d := range m.AtPrevalence {
		v.Prevalence = append(v.Prevalence, prevalenceGrid(d))
	}
	v.AUC = estimate(m.AUC)
	v.Histogram, v.Curve = newHistogram(v.ID, judged), newCurve(v.ID, m.Reliability)
	v.Breakdowns = m.Breakdowns
	for _, b := range m.Breakdowns {
		v.Parts = append(v.Parts, breakdownGrid(b))
	}
	return v
}

// headlineName is a figure's name for people.
func headlineName(name string) string {
	switch name {
	case "recall":
		return "recall (truth YES)"
	case "specificity":
		return "specificity (truth NO)"
	}
	return strings.ReplaceAll(name, "_", " ")
}

func headlineGrid(r score.Result, h Headline, people []People) grid {
	g := newGrid("Headline figures of the decided", "figure", "value", "95% interval", "n", "always YES", "majority", "duration", "open all wrong", "open all right")
	if len(people) > 0 {
		g.Columns = append(g.Columns, "people")
	}
	for _, row := range h.Rows {
		cells := []string{
			headlineName(row.Name), g.figure(row.Value), g.span(row.Low, row.High), fmt.Sprint(row.N),
			g.figure(row.AlwaysYes), g.figure(row.Majority), g.figure(row.Duration), g.figure(row.Worst), g.figure(row.Best),
		}
		if len(people) > 0 {
			cells = append(cells, g.figure(row.People))
		}
		g.row(cells...)
	}
	if h.Method == score.MethodBootstrap {
		g.note("Intervals are a bootstrap's over dialogues, as some stand in several castings.")
	} else {
		g.note("Intervals are Wilson's; that of balanced accuracy puts both together (Zou and Donner).")
	}
	if open := r.Classification.N - r.Classification.Decided; open > 0 {
		g.note("Open: %d UNRESOLVED or failed, which are neither right nor wrong.", open)
	}
	return g
}

// baselineGrid sets the verdicts beside rules that hear nothing, on the same items.
func baselineGrid(r score.Result, people []People) grid {
	c := r.Classification
	g := newGrid(fmt.Sprintf("Beside baselines on the same %d decided items", c.Decided), "who", "accuracy", "balanced accuracy", "recall", "specificity", "macro F1", "weighted F1")
	add := func(name string, c score.Classification) {
		g.row(name, g.figure(c.Accuracy), g.figure(c.BalancedAccuracy), g.figure(c.Yes.Recall), g.figure(c.No.Recall), g.figure(c.Macro.F1), g.figure(c.Weighted.F1))
	}
	add("the detector", c)
	for _, b := range r.Baselines {
		name := b.Name
		if b.Verdict != "" {
			name = fmt.Sprintf("%s (says %s)", b.Name, b.Verdict)
		}
		if b.Undefined != "" {
			g.note("%s: undefined, %s.", name, b.Undefined)
			continue
		}
		add(name, b.Classification)
		if b.Fitted != nil {
			g.note("%s judges each clip by a rule from the others; the best rule fitted to these very items has balanced accuracy %s.", name, word(*b.Fitted))
		}
	}
	for _, p := range people {
		if p.Compared == p.Scored {
			add(fmt.Sprintf("people, by %s", p.Modality), p.People)
		}
	}
	g.note("Accuracy and F1 are of this set's own prevalence: %d of %d are manipulative.", c.Yes.Support, c.Decided)
	return g
}

func prevalenceGrid(d score.Dependent) grid {
	g := newGrid(fmt.Sprintf("Where %s (%.3f) are manipulative", d.Prevalence.Stated, d.Prevalence.Share), "figure", "value", "95% interval")
	for _, row := range []struct {
		name string
		score.Estimate
	}{{"precision", d.Precision}, {"negative predictive value", d.NPV}, {"F1", d.F1}, {"accuracy", d.Accuracy}, {"MCC", d.MCC}} {
		g.row(row.name, g.figure(row.Value), g.span(row.Low, row.High)+undefinedDraws(row.Estimate))
	}
	return g
}

func hitGrid(a score.TacticAccuracy) grid {
	g := newGrid("Tactic accuracy", "of", "hits", "value", "95% interval", "always the most frequent")
	for _, of := range []struct {
		name string
		score.TacticHit
	}{{"those called YES", a.Conditional}, {"all with a verdict (end to end)", a.EndToEnd}} {
		constant := g.figure(of.ConstantRate.Value)
		if of.Constant != "" {
			constant += fmt.Sprintf(" (%s)", of.Constant)
		}
		g.row(of.name, fmt.Sprintf("%d of %d", of.Hits, of.N), g.figure(of.Value), g.span(of.Low, of.High), constant)
	}
	return g
}

func breakdownGrid(b Breakdown) grid {
	g := newGrid(b.Title+" (exploratory)", "part", "n", "open", "recall", "95% interval", "with the open", "specificity", "95% interval", "with the open")
	cell := func(f score.Figure) string {
		if !f.Defined {
			return "-" // the part has none of this truth
		}
		return fmt.Sprintf("%.3f", f.Value)
	}
	for _, r := range b.Rows {
		g.row(outside(r.Name), fmt.Sprint(r.N), fmt.Sprint(r.Unresolved+r.Failed),
			cell(r.Recall.Value), bounds(r.Recall.Rate), within(r.Recall.Worst, r.Recall.Best),
			cell(r.Specificity.Value), bounds(r.Specificity.Rate), within(r.Specificity.Worst, r.Specificity.Best))
	}
	return g
}
