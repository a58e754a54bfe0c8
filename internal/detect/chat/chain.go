package chat

import (
	"cmp"
	"math"
	"slices"

	"github.com/speechmanip/speechmanip/internal/vote"
)

// maxVocabulary is more tokens than any model's vocabulary has.
const maxVocabulary = 1 << 20

// among returns the probability of a against b where nothing else is allowed, by
// temperature first and then top-p. Equals are a half, whichever a server would
// take. One of a and b must be above 0.
func among(a, b float64, s vote.Sampling) float64 {
	top, other := max(a, b), min(a, b)
	share := 1.0 // of the more probable one
	if s.Temperature > 0 {
		share = 1 / (1 + math.Pow(other/top, 1/s.Temperature))
		if share >= s.TopP {
			share = 1
		}
	}
	switch {
	case a == b:
		return 0.5
	case a > b:
		return share
	default:
		return 1 - share
	}
}

// rejection is what is known of a server that draws freely, and only where the
// grammar refuses the token draws again among the letters.
type rejection struct {
	listed   []float64 // probabilities in falling order
	tail     float64   // of all tokens that aren't listed
	floor    float64   // of each of those, at most
	sampling vote.Sampling
}

func newRejection(d distribution, complete bool, s vote.Sampling) rejection {
	r := rejection{listed: slices.Clone(d.listed), floor: d.floor, sampling: s}
	slices.SortFunc(r.listed, func(a, b float64) int { return cmp.Compare(b, a) })
	if complete {
		return r
	}
	r.tail = 1
	for _, p := range r.listed {
		r.tail -= p
	}
	r.tail = max(r.tail, 0)
	return r
}

// tolerance is how far apart the bounds of a probability may lie that is called
// exact.
const tolerance = 1e-4

// share returns the probability that a is the answer, of a and b: that it is drawn
// freely, or that neither is and it is drawn then. What isn't listed leaves that
// between two bounds; ok is false where they lie too far apart.
func (r rejection) share(a, b letter) (p float64, ok bool) {
	if !a.listed && !b.listed || len(r.listed) == 0 || r.listed[0] <= 0 {
		return 0, false
	}
	if r.sampling.Temperature == 0 {
		// The most probable token of all, or else of the two: the same.
		low, high := among(a.low(), b.high(), r.sampling), among(a.high(), b.low(), r.sampling)
		return low, low == high
	}
	low, high := 1.0, 0.0
	for _, rest := range r.rest() {
		for _, pa := range []float64{a.low(), a.high()} {
			for _, pb := range []float64{b.low(), b.high()} {
				for _, whole := range r.kept(rest) {
					free := whole.of(pa) + (1-whole.of(pa)-whole.of(pb))*among(pa, pb, r.sampling)
					low, high = min(low, free), max(high, free)
				}
			}
		}
	}
	return (low + high) / 2, high-low <= tolerance
}

// letter is what is known of one letter's probability: p where it is listed, at
// most p where it isn't.
type letter struct {
	p      float64
	listed bool
}

func (l letter) high() float64 { return l.p }

func (l letter) low() float64 {
	if l.listed {
		return l.p
	}
	return 0
}

// weigh returns a probability after temperature, relative to the most probable
// token's, so that no power underflows to nothing.
func (r rejection) weigh(p float64) float64 {
	return math.Pow(p/r.listed[0], 1/r.sampling.Temperature)
}

// rest returns the least and the most that all unlisted tokens can weigh. Raising
// to a power above 1 favours few large ones, below 1 many small ones.
func (r rejection) rest() [2]float64 {
	if r.tail == 0 || r.floor == 0 {
		return [2]float64{}
	}
	fewest := r.tail / r.floor
	concentrated := fewest * r.weigh(r.floor)
	if r.sampling.Temperature <= 1 {
		return [2]float64{0, concentrated}
	}
	return [2]float64{concentrated, max(concentrated, maxVocabulary*r.weigh(r.tail/maxVocabulary))}
}

// cut is what top-p leaves: tokens that weigh at least least, and all together sum.
type cut struct {
	r          rejection
	least, sum float64
}

// of returns a token's probability in what is left.
func (c cut) of(p float64) float64 {
	if w := c.r.weigh(p); w > 0 && w >= c.least {
		return w / c.sum
	}
	return 0
}

// kept applies top-p where the unlisted tokens weigh rest. Where the listed ones
// don't reach it, a part of the others is left too: the least and the most.
func (r rejection) kept(rest float64) []cut {
	total := rest
	for _, p := range r.listed {
		total += r.weigh(p)
	}
	if r.sampling.TopP >= 1 {
		return []cut{{r: r, sum: total}}
	}
	sum := 0.0
	for _, p := range r.listed {
		w := r.weigh(p)
		if sum += w; sum >= r.sampling.TopP*total {
			return []cut{{r, w, sum}}
		}
	}
	return []cut{{r: r, sum: max(sum, r.sampling.TopP*total)}, {r: r, sum: total}}
}
