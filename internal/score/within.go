package score

import (
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Contrast is the verdicts on one dialogue's renditions of two kinds; what failed is
// vote.Unresolved.
type Contrast struct{ First, Second []vote.Verdict }

// Within says how much more often one kind of rendition is called YES than another
// of the same dialogue. A dialogue counts once, by the shares of YES among its
// renditions of each kind. The figures are of the dialogues all of whose renditions
// are decided, and the bounds say what the difference of all dialogues would be with
// every open verdict against the first kind, and for it.
type Within struct {
	N          int    `json:"n"`          // dialogues that are decided
	First      Figure `json:"first"`      // mean share of YES among the renditions of the first kind
	Second     Figure `json:"second"`     // and of the second
	Difference Figure `json:"difference"` // first minus second
	Low        Figure `json:"low"`        // of its 95% interval, by Student's t
	High       Figure `json:"high"`
	More       int    `json:"more"`   // dialogues with a larger share of YES under the first kind
	Fewer      int    `json:"fewer"`  // with a smaller one
	P          Figure `json:"sign_p"` // exact sign test of More against Fewer, two-sided
	Open       int    `json:"open"`   // dialogues with an open verdict: not in N
	Lowest     Figure `json:"lowest"` // of N + Open
	Highest    Figure `json:"highest"`
}

// CompareWithin compares both kinds; a contrast without either kind counts nowhere.
// none is why nothing can be said where all are such.
func CompareWithin(contrasts []Contrast, none string) Within {
	var w Within
	var first, second, lowest, highest float64
	var differences []float64
	var signs agreement.Paired
	for _, c := range contrasts {
		if len(c.First) == 0 || len(c.Second) == 0 {
			continue
		}
		least, most := shareOfYes(c.First)
		leastOther, mostOther := shareOfYes(c.Second)
		lowest += least - mostOther
		highest += most - leastOther
		if least != most || leastOther != mostOther {
			w.Open++
			continue
		}
		first += least
		second += leastOther
		differences = append(differences, least-leastOther)
		signs.Add(least > leastOther, least < leastOther)
	}
	w.N = len(differences)
	w.More, w.Fewer = signs.OnlyFirst, signs.OnlySecond
	if w.N == 0 && w.Open > 0 {
		none = "no dialogue is decided in all its castings"
	}
	mean := func(sum float64, n int) Figure {
		if n == 0 {
			return undefined(none)
		}
		return defined(sum / float64(n))
	}
	w.First, w.Second = mean(first, w.N), mean(second, w.N)
	w.Lowest, w.Highest = mean(lowest, w.N+w.Open), mean(highest, w.N+w.Open)
	w.Difference, w.Low, w.High = spread(differences, -1, none)
	w.P = undefined(none)
	if w.N > 0 {
		w.P = ofCoefficient(signs.McNemar())
	}
	return w
}

// shareOfYes bounds the share of YES, as open verdicts may be either.
func shareOfYes(verdicts []vote.Verdict) (least, most float64) {
	for _, v := range verdicts {
		low, high := rightness(v, vote.Yes)
		least += float64(low)
		most += float64(high)
	}
	n := float64(len(verdicts))
	return least / n, most / n
}

// spread returns the mean of dialogues' values, which are from least to 1, with its
// interval. That says nothing of few dialogues, or where no value differs from another.
func spread(values []float64, least float64, none string) (value, low, high Figure) {
	m := MeanOf(values)
	switch {
	case m.N == 0:
		return undefined(none), undefined(none), undefined(none)
	case m.N < leastStratum:
		few := undefined(fmt.Sprintf("fewer than %d dialogues", leastStratum))
		return m.Value, few, few
	case slices.Min(values) == slices.Max(values):
		same := undefined("it is the same in every dialogue")
		return m.Value, same, same
	}
	return m.Value, defined(max(m.Low.Value, least)), defined(min(m.High.Value, 1))
}

// Steadiness says how far the verdicts on a dialogue hang on its rendition. The
// figures are of the dialogues all of whose renditions are decided.
type Steadiness struct {
	N       int    `json:"n"`       // dialogues that are decided
	Depends Rate   `json:"depends"` // those whose verdicts are not all the same
	Lowest  Figure `json:"lowest"`  // of N + Open, with every open verdict as the others
	Highest Figure `json:"highest"` // with every open verdict another, where it can be
	Open    int    `json:"open"`    // dialogues with an open verdict: not in N
	// Flips is the share of differing verdicts among a dialogue's pairs of renditions,
	// mean of the dialogues.
	Flips Figure `json:"flip_rate"`
	Low   Figure `json:"flip_rate_low"` // of its 95% interval, by Student's t
	High  Figure `json:"flip_rate_high"`
}

// MeasureSteadiness takes each dialogue's verdicts, what failed as vote.Unresolved.
// A dialogue with less than two renditions counts nowhere.
func MeasureSteadiness(dialogues [][]vote.Verdict) Steadiness {
	var s Steadiness
	depends, certainly, possibly := 0, 0, 0
	var flips []float64
	for _, verdicts := range dialogues {
		if len(verdicts) < 2 {
			continue
		}
		yes, no := 0, 0
		for _, v := range verdicts {
			switch v {
			case vote.Yes:
				yes++
			case vote.No:
				no++
			}
		}
		open := len(verdicts) - yes - no
		if yes > 0 && no > 0 {
			certainly++
		}
		if yes > 0 && no > 0 || open > 0 { // two renditions, so one open verdict is enough
			possibly++
		}
		if open > 0 {
			s.Open++
			continue
		}
		s.N++
		if yes > 0 && no > 0 {
			depends++
		}
		flips = append(flips, float64(yes*no)/float64(len(verdicts)*(len(verdicts)-1)/2))
	}
	const none = "no dialogue is decided in several castings"
	s.Depends = Wilson(depends, s.N)
	s.Lowest = ratio(certainly, s.N+s.Open, none)
	s.Highest = ratio(possibly, s.N+s.Open, none)
	s.Flips, s.Low, s.High = spread(flips, 0, none)
	return s
}
