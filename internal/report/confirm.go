package report

import (
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
)

// Test is one confirmatory test: the exact test of McNemar on the dialogues of one
// truth. Everything else in a report is descriptive or exploratory.
type Test struct {
	Name       string         `json:"name"` // what is compared, e.g. "audio against text"
	Truth      dialogue.Truth `json:"truth"`
	N          int            `json:"n"` // pairs decided under both conditions
	OnlyFirst  int            `json:"only_first"`
	OnlySecond int            `json:"only_second"`
	P          score.Figure   `json:"p"`    // two-sided
	Holm       score.Figure   `json:"holm"` // adjusted for all defined tests of the report
}

// confirm lists all confirmatory tests of the report, adjusted for each other.
func confirm(r Report) []Test {
	tests := []Test{}
	add := func(name string, gaps score.Gaps) {
		for _, of := range []struct {
			truth dialogue.Truth
			gap   score.Gap
		}{{dialogue.Yes, gaps.Recall}, {dialogue.No, gaps.Specificity}} {
			g := of.gap
			tests = append(tests, Test{Name: name, Truth: of.truth, N: g.N, OnlyFirst: g.OnlyFirst, OnlySecond: g.OnlySecond, P: g.McNemar})
		}
	}
	if r.Modalities != nil {
		add(string(detect.Audio)+" against "+string(detect.Text), r.Modalities.Gaps)
	}
	if r.Orders != nil {
		add("option order ab against ba, "+string(r.Settings.Spec.Detection.Modalities()[0]), r.Orders.Gaps)
	}
	if r.Modalities != nil && r.Modalities.Text.Orders != nil {
		add("option order ab against ba, "+string(detect.Text), r.Modalities.Text.Orders.Gaps)
	}
	p := make([]score.Figure, len(tests))
	for i, t := range tests {
		p[i] = t.P
	}
	for i, adjusted := range score.Holm(p) {
		tests[i].Holm = adjusted
	}
	return tests
}
