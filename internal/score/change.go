package score

import (
	"math"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// CompareAccuracy returns the gap of both truths together. Unlike recall and
// specificity it depends on how many of the dialogues are manipulative.
func CompareAccuracy(pairs []Pair) Gap {
	return compare(asYes(pairs), dialogue.Yes, vote.Yes)
}

// asYes turns the pairs of truth NO around, so that YES is what is right in all.
func asYes(pairs []Pair) []Pair {
	turned := map[vote.Verdict]vote.Verdict{vote.Yes: vote.No, vote.No: vote.Yes, vote.Unresolved: vote.Unresolved}
	var out []Pair
	for _, p := range pairs {
		switch p.Truth {
		case dialogue.Yes:
			out = append(out, p)
		case dialogue.No:
			out = append(out, Pair{p.ID, dialogue.Yes, turned[p.First], turned[p.Second]})
		}
	}
	return out
}

// Shift is the difference of a figure that is no share of pairs, first minus second.
type Shift struct {
	First      Figure `json:"first"`
	Second     Figure `json:"second"`
	Difference Figure `json:"difference"`
	Low        Figure `json:"low"` // of its 95% interval
	High       Figure `json:"high"`
	Lowest     Figure `json:"lowest"` // with every open verdict against the first
	Highest    Figure `json:"highest"`
}

// BalancedAccuracy returns the difference of balanced accuracy, which is the mean
// of both gaps. Its interval puts theirs together by the method of variance
// estimates recovery (G. Y. Zou, A. Donner, Statistics in Medicine 27, 2008,
// 1693-1702), as dialogues of one truth say nothing about those of the other.
func (g Gaps) BalancedAccuracy() Shift {
	a, b := g.Recall, g.Specificity
	half := func(a, b Figure) Figure { return mean(a, b, 1, 1) }
	s := Shift{
		First:      half(a.First.Value, b.First.Value),
		Second:     half(a.Second.Value, b.Second.Value),
		Difference: half(a.Difference, b.Difference),
		Lowest:     half(a.Lowest, b.Lowest),
		Highest:    half(a.Highest, b.Highest),
	}
	if s.Low, s.High = s.Difference, s.Difference; !s.Difference.Defined {
		return s
	}
	for _, end := range []Figure{a.Low, b.Low} { // of castings, few dialogues have no interval
		if !end.Defined {
			s.Low, s.High = end, end
		}
	}
	if s.Low.Defined {
		s.Low.Value -= math.Hypot(a.Difference.Value-a.Low.Value, b.Difference.Value-b.Low.Value) / 2
		s.High.Value += math.Hypot(a.High.Value-a.Difference.Value, b.High.Value-b.Difference.Value) / 2
	}
	return s
}
