package chat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/speechmanip/speechmanip/internal/vote"
)

// cutOff returns what a server shows of probabilities: the n most probable.
func cutOff(p []float64, n int) distribution {
	listed := slices.Clone(p)
	slices.SortFunc(listed, func(a, b float64) int {
		if a > b {
			return -1
		}
		return 1
	})
	listed = listed[:n]
	sum := 0.0
	for _, q := range listed {
		sum += q
	}
	return distribution{listed: listed, floor: min(listed[n-1], max(1-sum, 0))}
}

func known(p float64, d distribution) letter {
	if slices.Contains(d.listed, p) {
		return letter{p: p, listed: true}
	}
	return letter{p: d.floor}
}

// What a short list gives is what the whole vocabulary gives, or it says that it
// can't tell; and it can for most.
func TestRejectionFromAShortList(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	told := 0
	const rounds = 3000
	for range rounds {
		p := make([]float64, 40)
		sum := 0.0
		for i := range p {
			p[i] = math.Exp(4 * rng.NormFloat64())
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		s := vote.Sampling{Temperature: []float64{0, 0.3, 0.6, 1, 1.5}[rng.IntN(5)], TopP: []float64{0.5, 0.9, 0.95, 1}[rng.IntN(4)]}
		all := cutOff(p, len(p))
		want, ok := newRejection(all, true, s).share(known(p[0], all), known(p[1], all))
		if !ok || want < 0 || want > 1 {
			t.Fatalf("%+v: the whole vocabulary gives %v, %v", s, want, ok)
		}
		if p[0] > p[1] && want < 0.5 || p[0] < p[1] && want > 0.5 {
			t.Fatalf("%+v: %v of %v against %v", s, want, p[0], p[1])
		}
		few := cutOff(p, 2+rng.IntN(30))
		got, ok := newRejection(few, false, s).share(known(p[0], few), known(p[1], few))
		if !ok {
			continue
		}
		told++
		if math.Abs(got-want) > tolerance {
			t.Fatalf("%+v: %d listed give %v, all give %v", s, len(few.listed), got, want)
		}
	}
	if told < rounds/3 {
		t.Errorf("only %d of %d short lists told it", told, rounds)
	}
}

func TestRejectionKnowsWhatItDoesNot(t *testing.T) {
	paper := vote.Paper().Sampling
	for _, test := range []struct {
		name string
		d    distribution
		a, b letter
		s    vote.Sampling
	}{
		{"neither letter listed", distribution{listed: []float64{0.6, 0.3}, floor: 0.1}, letter{p: 0.1}, letter{p: 0.1}, paper},
		{"one letter listed, the other near", distribution{listed: []float64{0.6, 0.2}, floor: 0.2}, letter{0.2, true}, letter{p: 0.2}, paper},
		{"a heavy tail of small ones, hot", distribution{listed: []float64{0.4, 0.3}, floor: 0.3}, letter{0.4, true}, letter{0.3, true}, vote.Sampling{Temperature: 2, TopP: .3}},
		{"nothing has a probability", distribution{listed: []float64{0, 0}}, letter{0, true}, letter{0, true}, paper},
	} {
		if p, ok := newRejection(test.d, false, test.s).share(test.a, test.b); ok {
			t.Errorf("%s: %v, want that it can't tell", test.name, p)
		}
	}
}

func TestAmong(t *testing.T) {
	paper := vote.Paper().Sampling
	for _, test := range []struct {
		a, b float64
		s    vote.Sampling
		want float64
	}{
		{.3, .7, vote.Sampling{Temperature: 1, TopP: 1}, .3},
		{.3, .7, vote.Sampling{Temperature: .6, TopP: 1}, .1958931},
		{.0003, .0007, vote.Sampling{Temperature: .6, TopP: 1}, .1958931},
		{.8541, .1459, paper, 1},
		{.1459, .8541, paper, 0},
		{.6, .4, vote.Sampling{TopP: 1}, 1},
		{.4, .6, vote.Sampling{TopP: 1}, 0},
		{.5, .5, vote.Sampling{Temperature: 1, TopP: .3}, .5},
		{.2, 0, paper, 1},
		{0, 0, paper, .5},
	} {
		if got := among(test.a, test.b, test.s); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%v against %v, %+v: %v, want %v", test.a, test.b, test.s, got, test.want)
		}
	}
}
