package report

import (
	"cmp"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
)

func gapGrid(gaps score.Gaps) grid {
	g := newGrid("Gap between clip and text: audio minus text, of the dialogues decided by both", "figure", "n", "audio", "text", "gap", "95% interval", "McNemar's exact p", "right by audio alone", "by text alone", "UNRESOLVED by either", "gap with these")
	for _, of := range []struct {
		name string
		score.Gap
	}{{"recall", gaps.Recall}, {"specificity", gaps.Specificity}} {
		g.row(of.name, fmt.Sprint(of.N), g.figure(of.First.Value), g.figure(of.Second.Value), g.difference(of.Difference), g.gaps(of.Low, of.High), g.p(of.McNemar),
			fmt.Sprint(of.OnlyFirst), fmt.Sprint(of.OnlySecond), fmt.Sprint(of.Open), g.gaps(of.Lowest, of.Highest))
	}
	return g
}

func testGrid(tests []Test) grid {
	g := newGrid("All confirmatory tests: exact McNemar, two-sided, with Holm's correction for all of them", "comparison", "truth", "n", "right under the first alone", "under the second alone", "p", "p by Holm")
	for _, t := range tests {
		g.row(t.Name, string(t.Truth), fmt.Sprint(t.N), fmt.Sprint(t.OnlyFirst), fmt.Sprint(t.OnlySecond), g.p(t.P), g.p(t.Holm))
	}
	return g
}

// peopleGrid sets people beside the detector on the items that both decide.
func peopleGrid(p People) grid {
	g := newGrid(fmt.Sprintf("Both on the same %d items", p.Compared), "who", "recall", "95% interval", "specificity", "95% interval", "balanced accuracy", "accuracy")
	for _, of := range []struct {
		name string
		score.Classification
	}{{"the people's consensus", p.People}, {"the detector", p.Detector}} {
		recall, specificity := of.Intervals.Recall, of.Intervals.Specificity
		g.row(of.name, g.figure(recall.Value), g.span(recall.Low, recall.High), g.figure(specificity.Value), g.span(specificity.Low, specificity.High), g.figure(of.BalancedAccuracy), g.figure(of.Accuracy))
	}
	return g
}

func labelGrid(p People) grid {
	g := newGrid("People's consensus against the labels, of all annotated items", "label", "consensus YES", "consensus NO", "with ties as NO: YES", "NO")
	paper := cmp.Or(p.Labels.AsPaper, &LabelTable{})
	for i, label := range []string{"YES", "NO"} {
		g.row(label, fmt.Sprint(p.Labels.Table[i][0]), fmt.Sprint(p.Labels.Table[i][1]), fmt.Sprint(paper.Table[i][0]), fmt.Sprint(paper.Table[i][1]))
	}
	return g
}

// truthGrid has the confusion of the decided for every truth.
func truthGrid(t Truths) grid {
	g := newGrid(fmt.Sprintf("The verdicts by %s against every truth", t.Modality), "truth", "YES called YES", "called NO", "NO called YES", "called NO", "open", "recall", "specificity", "balanced accuracy", "no truth")
	add := func(name string, c score.Classification, missing string) {
		yes, no := c.Intervals.Recall, c.Intervals.Specificity
		g.row(name, fmt.Sprint(yes.Hits), fmt.Sprint(yes.N-yes.Hits), fmt.Sprint(no.N-no.Hits), fmt.Sprint(no.Hits), fmt.Sprint(c.N-c.Decided),
			g.figure(c.Yes.Recall), g.figure(c.No.Recall), g.figure(c.BalancedAccuracy), missing)
	}
	for _, s := range t.Sets {
		add(outside(s.Name), s.Own, fmt.Sprint(s.Missing+s.Unresolved))
	}
	for _, s := range t.Sets {
		add(outside(s.Name)+", on what all decide", s.OnCommon, "")
	}
	return g
}

func disagreementGrid(t Truths) grid {
	g := newGrid("Where the truths differ", "dialogue")
	for _, s := range t.Sets {
		g.Columns = append(g.Columns, outside(s.Name))
	}
	g.Columns = append(g.Columns, "called")
	for _, d := range t.Disagreements {
		cells := []string{rendition(d.ID, d.CastingNumber)}
		for k := range t.Sets {
			cell := cmp.Or(string(d.Truths[k]), "-")
			if d.Votes[k] != "" {
				cell += " (" + d.Votes[k] + ")"
			}
			cells = append(cells, cell)
		}
		g.row(append(cells, cmp.Or(string(d.Verdict), "failed"))...)
	}
	return g
}

func effectGrid(caption string, effects []VoiceEffect, of func(VoiceEffect) score.Within) grid {
	g := newGrid(caption, "voice", "n", "difference", "95% interval", "up:down", "sign test p", "open", "with the open")
	for _, e := range effects {
		w := of(e)
		g.row(outside(e.Voice), fmt.Sprint(w.N), g.difference(w.Difference), g.gaps(w.Low, w.High), fmt.Sprintf("%d:%d", w.More, w.Fewer), g.p(w.P), fmt.Sprint(w.Open), g.gaps(w.Lowest, w.Highest))
	}
	return g
}

// effectGrids are of what each voice does.
func effectGrids(v Voices) []grid {
	return []grid{
		effectGrid("Share of YES with the voice as first speaker, minus with it as second", v.Effects, func(e VoiceEffect) score.Within { return e.Role }),
		effectGrid("Share of YES in castings with the voice, minus in those without", v.Effects, func(e VoiceEffect) score.Within { return e.Presence }),
	}
}

// lookGrid has the checks of a schedule's firing.
func lookGrid(o evaluation.Outcome) grid {
	g := newGrid("Checks of losses, against the baseline and the look before", "figure", "against", "pairs", "before", "after", "lost", "lost at least", "allowed", "the least loss it could show", "shown")
	for _, a := range o.Against {
		against := outside(a.Evaluation)
		if a.Baseline {
			against += " (baseline)"
		}
		for _, c := range a.Checks {
			shown := "no"
			if c.Shown {
				shown = "yes"
			}
			g.row(string(c.Metric), against, fmt.Sprint(c.N), g.figure(c.Before), g.figure(c.After), g.difference(c.Lost), g.difference(c.AtLeast), fmt.Sprintf("%.3f", c.Allowed), g.figure(c.Smallest), shown)
		}
	}
	return g
}

// rendition names a dialogue and its casting.
func rendition(id string, casting int) string { return outside(id) + evaluation.CastingLabel(casting) }
