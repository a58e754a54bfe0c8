// Package compare says what differs between evaluations of the same dialogues: how
// much more often one is right than another, which verdicts flipped, and by which
// settings.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
)

// Schema names the shape of the comparison's JSON.
const Schema = "speechmanip.comparison/1"

// Comparison is what Build found. All figures are of the same dialogues: those that
// every evaluation has with the same text and truth and that no detector has seen.
type Comparison struct {
	Schema      string                `json:"schema"`
	Evaluations []Side                `json:"evaluations"` // the others are compared with the first
	Paired      int                   `json:"paired"`
	Several     int                   `json:"several_castings_of,omitempty"` // dialogues that Paired are the castings of, where those are more
	Unlabelled  int                   `json:"unlabelled"`                    // of those, without truth: in no figure
	LeftOut     []evaluation.Excluded `json:"left_out"`
	Differences []Difference          `json:"differences"`
	Tests       []Test                `json:"tests"`    // all confirmatory ones
	Settings    []Setting             `json:"settings"` // that differ
	Flips       []Flip                `json:"flips"`
	Checks      []score.Loss          `json:"checks,omitempty"` // of the last against the first, where asked for

	paired []pairing
}

// Side is one of the evaluations.
type Side struct {
	Evaluation string `json:"evaluation"`
	Note       string `json:"note,omitempty"`
	Dataset    string `json:"dataset"`
	Detector   string `json:"detector"`
	Model      string `json:"model,omitempty"`
	Modality   string `json:"modality"` // of both, its clips count here
	Items      int    `json:"items"`
	Pending    int    `json:"pending"` // of those, without a record yet
	Seen       int    `json:"seen"`    // dialogues that its detector was trained or tuned on
	Failed     int    `json:"failed"`  // of the paired dialogues
	// SameClips counts the paired dialogues whose clip is the first evaluation's, of
	// WithClips that have one in both.
	SameClips int `json:"same_clips"`
	WithClips int `json:"with_clips"`
}

// Difference compares one evaluation with the first: every difference is its own
// figure minus the first's. Recall and specificity are tested; the others depend on
// them and are not.
type Difference struct {
	Evaluation       string `json:"evaluation"`
	Recall           Change `json:"recall"`
	Specificity      Change `json:"specificity"`
	BalancedAccuracy Change `json:"balanced_accuracy"`
	Accuracy         Change `json:"accuracy"`
}

// Change is the difference of one figure. N, Open, Gained and Lost are 0 for
// balanced accuracy, which is no share of dialogues.
type Change struct {
	N          int          `json:"n"`    // decided by both
	Open       int          `json:"open"` // UNRESOLVED or failed in one of both: not in N
	First      score.Figure `json:"first"`
	Value      score.Figure `json:"value"`
	Difference score.Figure `json:"difference"`
	Low        score.Figure `json:"low"` // of its 95% interval
	High       score.Figure `json:"high"`
	Gained     int          `json:"gained"` // right here alone
	Lost       int          `json:"lost"`   // right in the first alone
	Lowest     score.Figure `json:"lowest"` // with every open verdict against this evaluation
	Highest    score.Figure `json:"highest"`
}

// Test is McNemar's exact test on the dialogues of one truth.
type Test struct {
	Evaluation string         `json:"evaluation"` // against the first
	Truth      dialogue.Truth `json:"truth"`
	P          score.Figure   `json:"p"`    // two-sided
	Holm       score.Figure   `json:"holm"` // adjusted for all tests of the comparison
}

// Build compares reports with the first of them. It takes at least two, of
// different evaluations; it fails when no dialogue is in all of them.
func Build(reports []report.Report) (Comparison, error) {
	if len(reports) < 2 {
		return Comparison{}, errors.New("compare: two evaluations or more are needed")
	}
	for i, r := range reports {
		if slices.ContainsFunc(reports[:i], func(other report.Report) bool { return other.Evaluation == r.Evaluation }) {
			return Comparison{}, fmt.Errorf("compare: evaluation %q is named twice", r.Evaluation)
		}
	}
	paired, leftOut := pairUp(reports)
	if len(paired) == 0 {
		return Comparison{}, fmt.Errorf("compare: the evaluations have no dialogue in common that could be compared: %s", summary(leftOut))
	}
	out := Comparison{
		Schema: Schema, Paired: len(paired), Several: dialoguesOf(paired), LeftOut: leftOut, paired: paired,
		Differences: []Difference{}, Tests: []Test{},
		Flips: flips(paired),
	}
	for _, p := range paired {
		if p.truth() == dialogue.Unknown {
			out.Unlabelled++
		}
	}
	sameClips := true
	for i, r := range reports {
		out.Evaluations = append(out.Evaluations, side(i, r, paired))
		sameClips = sameClips && out.Evaluations[i].SameClips == len(paired)
		if i > 0 {
			out.add(r.Evaluation, pairs(paired, i, 0))
		}
	}
	out.Settings = differing(reports, sameClips)
	var p []score.Figure
	for _, t := range out.Tests {
		p = append(p, t.P)
	}
	for i, adjusted := range score.Holm(p) {
		out.Tests[i].Holm = adjusted
	}
	return out, nil
}

func (c *Comparison) add(name string, pairs []score.Pair) {
	gaps, accuracy := score.Compare(pairs), score.CompareAccuracy(pairs)
	balanced := gaps.BalancedAccuracy()
	c.Differences = append(c.Differences, Difference{
		Evaluation:  name,
		Recall:      change(gaps.Recall),
		Specificity: change(gaps.Specificity),
		BalancedAccuracy: Change{
			First: balanced.Second, Value: balanced.First, Difference: balanced.Difference,
			Low: balanced.Low, High: balanced.High, Lowest: balanced.Lowest, Highest: balanced.Highest,
		},
		Accuracy: change(accuracy),
	})
	c.Tests = append(c.Tests,
		Test{Evaluation: name, Truth: dialogue.Yes, P: gaps.Recall.McNemar},
		Test{Evaluation: name, Truth: dialogue.No, P: gaps.Specificity.McNemar},
	)
}

func change(g score.Gap) Change {
	return Change{
		N: g.N, Open: g.Open, First: g.Second.Value, Value: g.First.Value,
		Difference: g.Difference, Low: g.Low, High: g.High,
		Gained: g.OnlyFirst, Lost: g.OnlySecond, Lowest: g.Lowest, Highest: g.Highest,
	}
}

func side(i int, r report.Report, paired []pairing) Side {
	spec := r.Settings.Spec
	out := Side{
		Evaluation: r.Evaluation, Note: r.Note, Dataset: spec.Dataset.Name, Detector: spec.Detection.Detector,
		Model:    cmp.Or(spec.Detection.ModelName, r.Settings.Engines.Detector.Model),
		Modality: string(spec.Detection.Modality), Items: r.Items, Pending: r.Pending, Seen: r.Seen.N,
	}
	for _, p := range paired {
		if p[i].Failure != nil {
			out.Failed++
		}
		first, own := p[0].Clip.SHA256, p[i].Clip.SHA256
		if first != "" && own != "" {
			out.WithClips++
			if first == own {
				out.SameClips++
			}
		}
	}
	return out
}
