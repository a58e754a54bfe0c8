package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Bootstrap says how often dialogues are drawn anew to see how far a figure may
// be off by the dialogues that happened to be in the set.
type Bootstrap struct {
	Draws int    `json:"draws"` // 0 makes no interval
	Seed  uint64 `json:"seed"`
}

// DefaultBootstrap draws often enough for steady second decimals.
func DefaultBootstrap() Bootstrap { return Bootstrap{Draws: 10_000, Seed: 1} }

// Estimate is a figure with its 95% percentile interval (B. Efron, R. J.
// Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13).
type Estimate struct {
	Value     Figure `json:"value"`
	Low       Figure `json:"low"`
	High      Figure `json:"high"`
	N         int    `json:"n"`               // dialogues
	Undefined int    `json:"undefined_draws"` // draws in which the figure has no value
}

const (
	// leastStratum is the smallest stratum that is resampled: of fewer, draws hardly
	// differ, and the interval would be too narrow to be believed.
	leastStratum = 10
	// mostUndefined is the largest share of draws without a value that leaves an
	// interval: 1 of so many.
	mostUndefined = 20
)

// Statistics are figures of dialogues, each of them taken as often as its weight
// says: always as many figures, in the same order. It must not keep the weights.
type Statistics func(weights []int) []Figure

// Resample returns statistics of the same draws with their intervals. Dialogues
// are numbered from 0 through all strata, whose sizes are given. Each draw takes
// from every stratum as many dialogues as it has, with replacement, so that what
// the strata are made by, as the truth, stays as it is. The same arguments give
// the same intervals; the order of the dialogues is part of them.
func Resample(strata []int, b Bootstrap, statistics Statistics) []Estimate {
	n, least := 0, math.MaxInt
	for _, size := range strata {
		n, least = n+size, min(least, size)
	}
	weights := slices.Repeat([]int{1}, n)
	observed := statistics(weights)
	out := make([]Estimate, len(observed))
	for i, value := range observed {
		out[i] = Estimate{Value: value, N: n}
		switch {
		case !out[i].Value.Defined:
			out[i].without(out[i].Value.Reason)
		case b.Draws <= 0:
			out[i].without("no draws were asked for")
		case least < leastStratum:
			out[i].without(fmt.Sprintf("fewer than %d dialogues of one kind", leastStratum))
		}
	}
	if b.Draws <= 0 || least < leastStratum {
		return out
	}
	values := make([][]float64, len(observed))
	random := rand.New(rand.NewPCG(b.Seed, uint64(n)))
	for range b.Draws {
		clear(weights)
		from := 0
		for _, size := range strata {
			for range size {
				weights[from+random.IntN(size)]++
			}
			from += size
		}
		for i, f := range statistics(weights) {
			if f.Defined {
				values[i] = append(values[i], f.Value)
			}
		}
	}
	for i := range out {
		out[i].bound(values[i], b.Draws)
	}
	return out
}

// bound sets the interval from the values of the draws that have one.
func (e *Estimate) bound(values []float64, draws int) {
	if !e.Value.Defined {
		return
	}
	if e.Undefined = draws - len(values); mostUndefined*e.Undefined > draws {
		e.without(fmt.Sprintf("%d of %d draws give no value, more than 5%%", e.Undefined, draws))
		return
	}
	slices.Sort(values)
	e.Low, e.High = defined(stat.Quantile(0.025, stat.Empirical, values, nil)), defined(stat.Quantile(0.975, stat.Empirical, values, nil))
}

func (e *Estimate) without(reason string) { e.Low, e.High = undefined(reason), undefined(reason) }
