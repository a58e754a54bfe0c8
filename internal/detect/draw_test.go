package detect_test

import (
	"math"
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func mass(p float64) vote.Mass {
	return vote.Mass{P: vote.Nano(math.Round(p * float64(vote.One))), Observed: true}
}

func count(p vote.Mass, sampling vote.Sampling, seeds int) (yes int) {
	for seed := range seeds {
		if detect.Draw(p, sampling, int64(seed)) == vote.VoteYes {
			yes++
		}
	}
	return yes
}

// The seeds are fixed, so the statistic is too: the bound is the chi-squared
// quantile at 0.999 with one degree of freedom.
func TestDrawFollowsTheDistribution(t *testing.T) {
	const seeds = 20_000
	for _, test := range []struct {
		p, temperature, topP float64
		want                 float64 // sampled share of YES
	}{
		{.3, 1, 1, .3},
		{.5, 1, 1, .5},
		{.9, 1, 1, .9},
		{.9, 1, .95, .9},
		{.3, .6, 1, .1958931}, // 1/(1+(.7/.3)^(1/.6))
		{.6, .6, .95, .6627951},
		{.85, .6, .95, .9473998},
		{.2, 2, 1, 1. / 3},
	} {
		yes := count(mass(test.p), vote.Sampling{Temperature: test.temperature, TopP: test.topP}, seeds)
		wantYes, wantNo := seeds*test.want, seeds*(1-test.want)
		diff := float64(yes) - wantYes
		if chi := diff*diff/wantYes + diff*diff/wantNo; chi > 10.83 {
			t.Errorf("p %v at T %v, top-p %v: %d of %d YES, want about %.0f", test.p, test.temperature, test.topP, yes, seeds, wantYes)
		}
	}
}

func TestDrawCertain(t *testing.T) {
	const seeds = 2_000
	paper := vote.Sampling{Temperature: .6, TopP: .95}
	for _, test := range []struct {
		name     string
		p        float64
		sampling vote.Sampling
		want     int
	}{
		{"paper, from .854 on", .8541, paper, seeds},
		{"paper, to .146", .1459, paper, 0},
		{"certain YES", 1, vote.Sampling{Temperature: 1, TopP: 1}, seeds},
		{"certain NO", 0, vote.Sampling{Temperature: 1, TopP: 1}, 0},
		{"greedy YES", .51, vote.Sampling{Temperature: 0, TopP: 1}, seeds},
		{"greedy NO", .49, vote.Sampling{Temperature: 0, TopP: 1}, 0},
		{"greedy tie is NO", .5, vote.Sampling{Temperature: 0, TopP: 1}, 0},
		{"greedy ignores top-p", .51, vote.Sampling{}, seeds},
		{"top-p tie is NO", .5, vote.Sampling{Temperature: 1, TopP: .4}, 0},
		{"tiny temperature", .51, vote.Sampling{Temperature: 1e-300, TopP: 1}, seeds},
	} {
		if got := count(mass(test.p), test.sampling, seeds); got != test.want {
			t.Errorf("%s: %d of %d YES, want %d", test.name, got, seeds, test.want)
		}
	}
	if got := count(mass(.853), paper, seeds); got == seeds {
		t.Error("paper: .853 must not be certain")
	}
	// Temperature comes first: top-p on the raw distribution would keep both.
	if got := count(mass(.9), paper, seeds); got != seeds {
		t.Errorf("paper: .9 gave %d of %d YES: top-p was applied before temperature", got, seeds)
	}
}

func TestDrawInvalid(t *testing.T) {
	for _, sampling := range []vote.Sampling{
		{Temperature: math.NaN(), TopP: 1}, {Temperature: -1, TopP: 1}, {Temperature: 1}, {Temperature: 1, TopP: 1.1},
	} {
		if got := detect.Draw(mass(.51), sampling, 1); got != vote.VoteInvalid {
			t.Errorf("Draw with %+v = %q, want INVALID", sampling, got)
		}
	}
	for _, p := range []vote.Nano{0, vote.One} {
		got := detect.Draw(vote.Mass{P: p}, vote.Sampling{Temperature: .6, TopP: .95}, 1)
		if got != vote.VoteInvalid {
			t.Errorf("Draw of an unobserved mass = %q, want INVALID", got)
		}
	}
}

// Golden votes: a change here changes what every seed means. They are those of
// vote.Draw, which draws for tactics too.
func TestDrawGolden(t *testing.T) {
	got := ""
	for seed := range int64(32) {
		got += string(detect.Draw(mass(.5), vote.Sampling{Temperature: .6, TopP: .95}, seed-16)[0])
	}
	if want := "NYNNYNYYNYYYNYNNNNYYNYYYNYYNNYNY"; got != want {
		t.Errorf("votes of seeds -16 to 15 = %s, want %s", got, want)
	}
}
