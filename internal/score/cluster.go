package score

import (
	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// cluster sets interval and p-value where dialogues have several pairs, which are
// not independent. The interval is the bootstrap's over dialogues. The test is the
// exact sign test on dialogues: each goes the way in which more of its pairs are
// right, and one that goes neither way counts for nothing. Of one pair a dialogue
// that is McNemar's test.
func (g *Gap) cluster(s sample[Pair], right vote.Verdict) {
	net, n := make([]int, s.yes), make([]int, s.yes)
	for i, p := range s.items {
		if p.First == vote.Unresolved || p.Second == vote.Unresolved {
			continue
		}
		n[s.unit[i]]++
		if p.First == right {
			net[s.unit[i]]++
		}
		if p.Second == right {
			net[s.unit[i]]--
		}
	}
	var ways agreement.Paired
	for unit, d := range net {
		if n[unit] > 0 {
			ways.Add(d > 0, d < 0)
		}
	}
	g.McNemar = ofCoefficient(ways.McNemar())
	e := Resample([]int{s.yes}, DefaultBootstrap(), func(weights []int) []Figure {
		difference, pairs := 0, 0
		for unit, w := range weights {
			difference, pairs = difference+w*net[unit], pairs+w*n[unit]
		}
		return []Figure{ratio(difference, pairs, "no pair is decided")}
	})[0]
	g.Low, g.High = e.Low, e.High
}
