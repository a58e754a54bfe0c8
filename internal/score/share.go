package score

import (
	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Trial says of one item of a dialogue whether something holds.
type Trial struct {
	ID  string // the dialogue's; an empty one is a dialogue of its own
	Hit bool
}

// Share returns how many of the trials are hits. Its interval is Wilson's where
// every dialogue stands once. Where one stands several times, as with castings,
// its trials aren't independent, and the interval is the bootstrap's over
// dialogues.
func Share(trials []Trial) Rate {
	hits := 0
	for _, t := range trials {
		if t.Hit {
			hits++
		}
	}
	r := Wilson(hits, len(trials))
	s := newSample(trials, func(Trial) dialogue.Truth { return dialogue.Yes }, func(t Trial) string { return t.ID })
	if !s.repeated() {
		return r
	}
	counts := make([][2]int, s.yes) // hits and trials of a dialogue
	for i, t := range s.items {
		counts[s.unit[i]][1]++
		if t.Hit {
			counts[s.unit[i]][0]++
		}
	}
	e := Resample([]int{s.yes}, DefaultBootstrap(), func(weights []int) []Figure {
		hits, n := 0, 0
		for unit, w := range weights {
			hits, n = hits+w*counts[unit][0], n+w*counts[unit][1]
		}
		return []Figure{ratio(hits, n, "no items")}
	})[0]
	r.Low, r.High = e.Low, e.High
	return r
}

// Valued is a value of one item of a dialogue.
type Valued struct {
	ID    string // the dialogue's; an empty one is a dialogue of its own
	Value float64
}

// MeanByDialogue returns the mean of the dialogues' own means with its interval,
// so that a dialogue that stands several times counts once.
func MeanByDialogue(values []Valued) Mean {
	s := newSample(values, func(Valued) dialogue.Truth { return dialogue.Yes }, func(v Valued) string { return v.ID })
	sums, counts := make([]float64, s.yes), make([]float64, s.yes)
	for i, v := range s.items {
		sums[s.unit[i]] += v.Value
		counts[s.unit[i]]++
	}
	for unit := range sums {
		sums[unit] /= counts[unit]
	}
	return MeanOf(sums)
}
