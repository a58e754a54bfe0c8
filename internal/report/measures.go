package report

import (
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
)

// Measures are the figures of the headline items in one modality, with what is
// needed to read them. Their intervals are from Report.Bootstrap where they are
// not Wilson's.
type Measures struct {
	Headline Headline `json:"headline"`
	// AtPrevalence are the figures that depend on the share of manipulative items:
	// at the items' own one, then at those that were asked for.
	AtPrevalence []score.Dependent `json:"at_prevalence"`
	// AUC is of p(YES) before sampling, of the items where every pass observed it.
	AUC         score.Estimate   `json:"auc"`
	Reliability Reliability      `json:"reliability"`
	Annotated   AnnotatedTactics `json:"annotated_tactics"`
	Breakdowns  []Breakdown      `json:"breakdowns"` // exploratory: nothing in them is tested
}

// judgedItem is a headline dialogue with its judgement in one modality.
type judgedItem struct {
	Dialogue
	judgement evaluation.Judgement
}

// scored are the dialogues behind the headline in one modality: unseen, with truth
// and with a judgement.
func scored(dialogues []Dialogue, judgement view) []judgedItem {
	var out []judgedItem
	for _, d := range dialogues {
		if j := judgement(d); j != nil && !d.Seen && d.Truth != dialogue.Unknown {
			out = append(out, judgedItem{d, *j})
		}
	}
	return out
}

// measure takes all dialogues, and the result of the headline items among them.
func measure(dialogues []Dialogue, judgement view, result score.Result, spec evaluation.Spec) Measures {
	judged := scored(dialogues, judgement)
	unseen, _ := score.Split(items(dialogues, judgement))
	var observed []score.Scored
	for _, it := range judged {
		if p, ok := ordersOf(it.judgement)[0].pYes(); ok {
			observed = append(observed, score.Scored{ID: it.ID, Truth: it.Truth, P: p})
		}
	}
	return Measures{
		Headline:     newHeadline(result),
		AtPrevalence: []score.Dependent{score.EstimateDependent(unseen, score.DefaultBootstrap())},
		AUC:          score.EstimateAUC(observed, score.DefaultBootstrap()),
		Reliability:  measureReliability(judged, spec.Detection.OptionOrder),
		Annotated:    countAnnotated(unseen),
		Breakdowns:   breakDown(dialogues, judgement),
	}
}

// Headline is what does not depend on how many of the items are manipulative,
// beside what rules reach that hear nothing of what is said, on the same items.
type Headline struct {
	Method string         `json:"interval_method"` // see score.Intervals
	Rows   []HeadlineLine `json:"rows"`            // recall, specificity, balanced_accuracy
}

// HeadlineLine is one figure of the decided items.
type HeadlineLine struct {
	Name string `json:"name"`
	score.Interval
	Worst     score.Figure `json:"worst"` // with every UNRESOLVED and failed item wrong
	Best      score.Figure `json:"best"`  // with them right
	AlwaysYes score.Figure `json:"always_yes"`
	Majority  score.Figure `json:"majority"`
	Duration  score.Figure `json:"duration"`
	// People is what the annotators' consensus reaches, where annotations were given
	// and their consensus decides exactly these items.
	People score.Figure `json:"people"`
}

const notGiven = "no annotations were given"

func newHeadline(r score.Result) Headline {
	c := r.Classification
	rate := func(r score.Rate) score.Interval {
		return score.Interval{N: r.N, Value: r.Value, Low: r.Low, High: r.High}
	}
	out := Headline{Method: c.Intervals.Method, Rows: []HeadlineLine{
		{Name: "recall", Interval: rate(c.Intervals.Recall), Worst: c.Worst.Yes.Recall, Best: c.Best.Yes.Recall},
		{Name: "specificity", Interval: rate(c.Intervals.Specificity), Worst: c.Worst.No.Recall, Best: c.Best.No.Recall},
		{Name: "balanced_accuracy", Interval: c.Intervals.BalancedAccuracy, Worst: c.Worst.BalancedAccuracy, Best: c.Best.BalancedAccuracy},
	}}
	for i := range out.Rows {
		out.Rows[i].People = score.Figure{Reason: notGiven}
	}
	for _, b := range r.Baselines {
		for i, f := range headlineFigures(b.Classification.Metrics) {
			if b.Undefined != "" {
				f = score.Figure{Reason: b.Undefined}
			}
			switch b.Name {
			case score.AlwaysYes:
				out.Rows[i].AlwaysYes = f
			case score.Majority:
				out.Rows[i].Majority = f
			case score.Duration:
				out.Rows[i].Duration = f
			}
		}
	}
	return out
}

// headlineFigures are those of the headline's lines.
func headlineFigures(m score.Metrics) []score.Figure {
	return []score.Figure{m.Yes.Recall, m.No.Recall, m.BalancedAccuracy}
}
