package score

import (
	"math"

	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Pair is one item with truth and with a verdict under two conditions.
type Pair struct {
	ID            string // the dialogue's: pairs of several castings share it; an empty one is a dialogue of its own
	Truth         dialogue.Truth
	First, Second vote.Verdict
}

// Gaps says how much more often one condition is right than another on the same
// dialogues.
type Gaps struct {
	Recall      Gap `json:"recall"`      // truth YES
	Specificity Gap `json:"specificity"` // truth NO
}

// Gap compares two conditions on the dialogues of one truth. UNRESOLVED is
// neither right nor wrong: the figures are of the pairs that are decided under
// both conditions, and the bounds say what the difference of all pairs would be
// with every open verdict against the first condition, and for it.
type Gap struct {
	N          int    `json:"n"` // decided under both
	First      Rate   `json:"first"`
	Second     Rate   `json:"second"`
	Difference Figure `json:"difference"` // first minus second
	Low        Figure `json:"low"`        // of its 95% interval
	High       Figure `json:"high"`
	OnlyFirst  int    `json:"only_first"`  // right under the first alone
	OnlySecond int    `json:"only_second"` // right under the second alone
	McNemar    Figure `json:"mcnemar_p"`   // exact, two-sided; a sign test on dialogues where they have several pairs
	Open       int    `json:"open"`        // UNRESOLVED under either: not in N
	Lowest     Figure `json:"lowest"`      // of N + Open
	Highest    Figure `json:"highest"`
}

// Compare returns the gaps between the conditions of pairs, whose order doesn't
// matter. Pairs without truth count nowhere.
func Compare(pairs []Pair) Gaps {
	return Gaps{
		Recall:      compare(pairs, dialogue.Yes, vote.Yes),
		Specificity: compare(pairs, dialogue.No, vote.No),
	}
}

func compare(pairs []Pair, truth dialogue.Truth, right vote.Verdict) Gap {
	var g Gap
	var decided agreement.Paired
	var ofTruth []Pair
	lowest, highest := 0, 0
	for _, p := range pairs {
		if p.Truth != truth {
			continue
		}
		ofTruth = append(ofTruth, p)
		if p.First == vote.Unresolved || p.Second == vote.Unresolved {
			g.Open++
		} else {
			decided.Add(p.First == right, p.Second == right)
		}
		firstLow, firstHigh := rightness(p.First, right)
		secondLow, secondHigh := rightness(p.Second, right)
		lowest += firstLow - secondHigh
		highest += firstHigh - secondLow
	}
	g.N, g.OnlyFirst, g.OnlySecond = decided.N(), decided.OnlyFirst, decided.OnlySecond
	g.First = Wilson(decided.Both+decided.OnlyFirst, g.N)
	g.Second = Wilson(decided.Both+decided.OnlySecond, g.N)
	g.Difference = ratio(decided.OnlyFirst-decided.OnlySecond, g.N, "no pair is decided")
	g.Low, g.High = differenceInterval(g, decided.Both, decided.Neither)
	g.McNemar = ofCoefficient(decided.McNemar())
	if s := newSample(ofTruth, func(Pair) dialogue.Truth { return dialogue.Yes }, func(p Pair) string { return p.ID }); s.repeated() {
		g.cluster(s, right)
	}
	g.Lowest = ratio(lowest, g.N+g.Open, "no pairs")
	g.Highest = ratio(highest, g.N+g.Open, "no pairs")
	return g
}

// differenceInterval is method 10 of R. G. Newcombe, Statistics in Medicine 17,
// 1998, 2635-2650: Wilson's intervals of both shares, put together with the
// correlation of the pairs.
func differenceInterval(g Gap, both, neither int) (low, high Figure) {
	if g.N == 0 {
		return g.Difference, g.Difference
	}
	below, above := newcombe(g.First, g.Second, agreement.Paired{Both: both, OnlyFirst: g.OnlyFirst, OnlySecond: g.OnlySecond, Neither: neither})
	return defined(g.Difference.Value - below), defined(g.Difference.Value + above)
}

// newcombe returns how far the interval reaches below and above the difference of
// two shares of the same pairs, of which there are some. The quantile is that of the
// shares' intervals.
func newcombe(first, second Rate, pairs agreement.Paired) (below, above float64) {
	n := float64(pairs.N())
	product := float64(pairs.Both)*float64(pairs.Neither) - float64(pairs.OnlyFirst)*float64(pairs.OnlySecond)
	if product > 0 {
		product = max(0, product-n/2)
	}
	correlation := 0.0
	if margins := float64(first.Hits) * float64(first.N-first.Hits) * float64(second.Hits) * float64(second.N-second.Hits); margins > 0 {
		correlation = product / math.Sqrt(margins)
	}
	together := func(a, b float64) float64 { return math.Sqrt(max(0, a*a-2*correlation*a*b+b*b)) }
	below = together(first.Value.Value-first.Low.Value, second.High.Value-second.Value.Value)
	above = together(first.High.Value-first.Value.Value, second.Value.Value-second.Low.Value)
	return below, above
}

// rightness bounds whether a verdict is right: 0 is wrong, 1 is right.
func rightness(v, right vote.Verdict) (low, high int) {
	switch v {
	case right:
		return 1, 1
	case vote.Unresolved:
		return 0, 1
	default:
		return 0, 0
	}
}

func ofCoefficient(c agreement.Coefficient) Figure {
	if !c.Defined() {
		return undefined(c.Undefined)
	}
	return defined(c.Value)
}
