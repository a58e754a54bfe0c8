package agreement

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// MinItems is the least number of items for an interval: of fewer, resampling
// gives one that is too narrow to be believed.
const MinItems = 20

// DefaultDraws is the usual number of resamplings.
const DefaultDraws = 10_000

// Bootstrap says how intervals are made: by drawing the coefficient's items with
// replacement. Annotators are fixed: an interval says what other items might have
// given, and nothing about other annotators. The zero value makes none.
type Bootstrap struct {
	Draws int
	Seed  uint64
}

// Interval is a 95% percentile interval (B. Efron, R. J. Tibshirani, An
// Introduction to the Bootstrap, 1993, chapter 13).
type Interval struct {
	Low, High float64
	Draws     int    // draws that gave a value
	Undefined int    // draws that gave none, e.g. because all their votes are the same
	None      string // why there is no interval; empty when there is one
}

// interval resamples the items of a statistic whose value is defined.
func (b Bootstrap) interval(s statistic) Interval {
	n := len(s.terms)
	switch {
	case b.Draws <= 0:
		return Interval{None: "no draws were asked for"}
	case n < MinItems:
		return Interval{None: fmt.Sprintf("fewer than %d items", MinItems)}
	}
	random := rand.New(rand.NewPCG(b.Seed, uint64(n)))
	values := make([]float64, 0, b.Draws)
	sums := make([]float64, len(s.terms[0]))
	for range b.Draws {
		clear(sums)
		for range n {
			add(sums, s.terms[random.IntN(n)])
		}
		if value, undefined := s.finish(sums, n); undefined == "" {
			values = append(values, value)
		}
	}
	missed := b.Draws - len(values)
	if missed > len(values) {
		return Interval{Draws: len(values), Undefined: missed, None: "most draws have no value: the votes hardly differ"}
	}
	slices.Sort(values)
	return Interval{Low: quantile(values, 0.025), High: quantile(values, 0.975), Draws: len(values), Undefined: missed}
}

// quantile interpolates between the two nearest of sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
