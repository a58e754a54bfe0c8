package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap says how often dialogues are drawn anew to see how far a figure may
// be off by the dialogues that happened to be in the set.
type Bootstrap struct {
	Draws int // 0 makes no interval
	Seed  uint64
}

// DefaultBootstrap draws often enough for steady second decimals.
func DefaultBootstrap() Bootstrap { return Bootstrap{Draws: 10_000, Seed: 1} }

// Estimate is a figure with its 95% percentile interval (B. Efron, R. J.
// Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13).
type Estimate struct {
	Value Figure `json:"value"`
	Low   Figure `json:"low"`
	High  Figure `json:"high"`
	N     int    `json:"n"`     // dialogues
	Draws int    `json:"draws"` // those in which the figure is defined
}

// leastStratum is the smallest stratum that is resampled: of fewer, draws hardly
// differ, and the interval would be too narrow to be believed.
const leastStratum = 10

// Resample returns a statistic of dialogues with its interval. Each draw takes
// from every stratum as many dialogues as it has, with replacement, so that what
// the strata are made by, as the truth, stays as it is. The statistic must not
// keep the slices. The same arguments give the same interval; the order within
// strata is part of them.
func Resample[T any](strata [][]T, b Bootstrap, statistic func(strata [][]T) Figure) Estimate {
	out := Estimate{Value: statistic(strata)}
	small := false
	for _, s := range strata {
		out.N += len(s)
		small = small || len(s) < leastStratum
	}
	switch {
	case !out.Value.Defined:
		return out.without(out.Value.Reason)
	case b.Draws <= 0:
		return out.without("no draws were asked for")
	case small:
		return out.without(fmt.Sprintf("fewer than %d dialogues of one kind", leastStratum))
	}
	random := rand.New(rand.NewPCG(b.Seed, uint64(out.N)))
	drawn := make([][]T, len(strata))
	for i, s := range strata {
		drawn[i] = make([]T, len(s))
	}
	var values []float64
	for range b.Draws {
		for i, s := range strata {
			for j := range s {
				drawn[i][j] = s[random.IntN(len(s))]
			}
		}
		if f := statistic(drawn); f.Defined {
			values = append(values, f.Value)
		}
	}
	out.Draws = len(values)
	if 2*len(values) < b.Draws {
		return out.without("most draws give no value")
	}
	slices.Sort(values)
	out.Low, out.High = defined(quantile(values, 0.025)), defined(quantile(values, 0.975))
	return out
}

func (e Estimate) without(reason string) Estimate {
	e.Low, e.High = undefined(reason), undefined(reason)
	return e
}

// quantile returns the least of sorted values that at least the share q of them
// doesn't exceed.
func quantile(sorted []float64, q float64) float64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
