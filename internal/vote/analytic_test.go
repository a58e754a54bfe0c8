package vote

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDecideAnalytic(t *testing.T) {
	with := func(passes, quorum int) Rules {
		r := Paper()
		r.Passes, r.Quorum = passes, quorum
		return r
	}
	for _, test := range []struct {
		name    string
		yes     Nano
		r       Rules
		verdict Verdict
		p       Nano
	}{
		{"certain YES", One, Paper(), Yes, One},
		{"certain NO", 0, Paper(), No, 0},
		{"even", One / 2, Paper(), Unresolved, One / 2},
		{"a little more", One/2 + 1, Paper(), Yes, One/2 + 2}, // by 1.875
		{"a little less", One/2 - 1, Paper(), No, One/2 - 2},
		{"0.6", 600_000_000, Paper(), Yes, 682_560_000}, // 10*.6^3*.4^2 + 5*.6^4*.4 + .6^5
		{"0.3", 300_000_000, Paper(), No, 163_080_000},
		{"plurality", 600_000_000, Released(), Yes, 682_560_000},
		{"even under plurality", One / 2, Released(), Unresolved, One / 2},
		{"one pass", 600_000_000, with(1, 1), Yes, 600_000_000},
		{"four of five, likely undecided", 600_000_000, with(5, 4), Unresolved, 336_960_000},
		{"three of four, likely undecided", 600_000_000, with(4, 3), Unresolved, 475_200_000},
		{"above one", One + 5, Paper(), Yes, One},
		{"below zero", -5, Paper(), No, 0},
	} {
		out, p := DecideAnalytic(test.yes, test.r)
		if want := (Outcome{Verdict: test.verdict}); out != want || p != test.p {
			t.Errorf("%s: %+v, %d; want %+v, %d", test.name, out, p, want, test.p)
		}
	}
}

// A majority of an odd number says what one greedy pass would, and the exact sum
// is that of floating point.
func TestDecideAnalyticIsGreedy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		yes := Nano(rng.Int64N(int64(One) + 1))
		if rng.IntN(4) == 0 {
			yes = One/2 + Nano(rng.IntN(7)-3)
		}
		want := Unresolved
		switch {
		case yes > One/2:
			want = Yes
		case yes < One/2:
			want = No
		}
		out, p := DecideAnalytic(yes, Paper())
		if out.Verdict != want {
			t.Fatalf("%d: %s, one greedy pass says %s", yes, out.Verdict, want)
		}
		y := float64(yes) / float64(One)
		n := 1 - y
		if sum := 10*y*y*y*n*n + 5*y*y*y*y*n + y*y*y*y*y; math.Abs(sum-float64(p)/1e9) > 1e-9 {
			t.Fatalf("%d: %d, want %.12f", yes, p, sum)
		}
	}
}
