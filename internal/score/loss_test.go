package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// table is pairs of one truth: right under both conditions, one alone, and neither.
func table(truth dialogue.Truth, both, first, second, neither int) []Pair {
	right, wrong := vote.Yes, vote.No
	if truth == dialogue.No {
		right, wrong = wrong, right
	}
	return slices.Concat(
		pairs(truth, right, right, both), pairs(truth, right, wrong, first),
		pairs(truth, wrong, right, second), pairs(truth, wrong, wrong, neither),
	)
}

// Balanced accuracy against the published intervals of its two parts, put together
// by hand: 0.0689 = (0.2 - 0.0621)/2; each end is as far from it as half the root of
// both parts' squared distances, e.g. ((0.2-0.0569)² + (0.1186-0.0621)²)^½ / 2 = 0.0769.
func TestShiftOfBalancedAccuracy(t *testing.T) {
	both := slices.Concat(table(dialogue.Yes, 36, 12, 2, 0), table(dialogue.No, 59, 6, 16, 80))
	s := Compare(both).BalancedAccuracy()
	near(t, "first", s.First, (48.0/50+65.0/161)/2, 1e-12)
	near(t, "second", s.Second, (38.0/50+75.0/161)/2, 1e-12)
	near(t, "difference", s.Difference, 0.06894, 5e-5)
	near(t, "low", s.Low, 0.06894-0.07692, 1e-4)
	near(t, "high", s.High, 0.06894+0.07583, 1e-4)

	if one := Compare(table(dialogue.Yes, 1, 1, 1, 1)).BalancedAccuracy(); one.Difference.Defined || one.Low.Defined {
		t.Errorf("of one truth only: %+v", one)
	}
}

func TestCompareAccuracy(t *testing.T) {
	g := CompareAccuracy(slices.Concat(
		table(dialogue.Yes, 5, 1, 0, 2), table(dialogue.No, 4, 3, 2, 1),
		pairs(dialogue.No, vote.Unresolved, vote.No, 1), pairs(dialogue.Unknown, vote.Yes, vote.No, 9),
	))
	if g.N != 18 || g.Open != 1 || g.OnlyFirst != 4 || g.OnlySecond != 2 || g.First.Hits != 13 || g.Second.Hits != 11 {
		t.Errorf("%+v", g)
	}
}

// The one-sided bound against the same method in another language: Newcombe's
// method 10 with z = 1.6448536, worked out in Python.
func TestMeasureLoss(t *testing.T) {
	for _, test := range []struct {
		name           string
		pairs          []Pair
		metric         Metric
		allowed        float64
		lost, atLeast  float64
		shown          bool
		smallest       float64
		smallestExists bool
	}{
		{"three of three lost", table(dialogue.Yes, 0, 3, 0, 0), MetricRecall, 0, 1.0, 0.32938618780914863, true, 0.6666666666666667, true},
		{"one of three lost", table(dialogue.Yes, 2, 1, 0, 0), MetricRecall, 0, 0.33333333333333337, -0.20510972465058952, false, 0.6666666666666667, true},
		{"a loss that is not shown", table(dialogue.No, 80, 9, 4, 20), MetricSpecificity, 0.05, 0.04424778761061943, -0.010208887252494046, false, 0.10619469026548678, true},
		{"a loss beyond what is allowed", table(dialogue.No, 60, 40, 4, 20), MetricSpecificity, 0.05, 0.29032258064516125, 0.21010859487968284, true, 0.09677419354838701, true},
		{"nothing can be shown of two", table(dialogue.Yes, 1, 1, 0, 0), MetricRecall, 0.5, 0.5, -0.1887177566521907, false, 0, false},
		{"a gain", table(dialogue.Yes, 10, 0, 10, 5), MetricRecall, 0, -0.4, -0.5474259117098592, false, 0.16000000000000003, true},
		{"both truths", slices.Concat(table(dialogue.Yes, 20, 10, 2, 8), table(dialogue.No, 30, 6, 3, 11)), MetricBalancedAccuracy, 0.02, 0.12999999999999995, 0.04243579154084556, true, 0.07250000000000001, true},
		{"both truths as one", slices.Concat(table(dialogue.Yes, 20, 10, 2, 8), table(dialogue.No, 30, 6, 3, 11)), MetricAccuracy, 0.02, 0.12222222222222212, 0.03860017423384156, true, 0.07777777777777772, true},
	} {
		l := MeasureLoss(test.pairs, test.metric, test.allowed, LossConfidence)
		near(t, test.name+": lost", l.Lost, test.lost, 1e-9)
		near(t, test.name+": at least", l.AtLeast, test.atLeast, 1e-9)
		if l.Shown != test.shown {
			t.Errorf("%s: shown is %v", test.name, l.Shown)
		}
		if l.Smallest.Defined != test.smallestExists || math.Abs(l.Smallest.Value-test.smallest) > 1e-9 {
			t.Errorf("%s: smallest %+v, want %v", test.name, l.Smallest, test.smallest)
		}
	}
}

// More confidence is a lower bound: the same method in Python, with z = 2.3263479 and
// z = 4.7534243.
func TestMeasureLossWithMoreConfidence(t *testing.T) {
	for confidence, want := range map[float64]float64{0.99: 0.1759970904269233, 0.999999: 0.055305631685978685} {
		l := MeasureLoss(table(dialogue.No, 60, 40, 4, 20), MetricSpecificity, 0.05, confidence)
		near(t, "at least", l.AtLeast, want, 1e-7)
		if l.Confidence != confidence || l.Shown != (want > 0.05) {
			t.Errorf("%+v", l)
		}
	}
}

// Who stops deciding loses; who never decided has nothing to lose.
func TestOpenVerdictsAreNotRight(t *testing.T) {
	l := MeasureLoss(slices.Concat(pairs(dialogue.Yes, vote.Yes, vote.Unresolved, 20), pairs(dialogue.Yes, vote.Unresolved, vote.No, 5)), MetricRecall, 0.1, LossConfidence)
	if l.N != 25 || l.Open != 25 || !l.Shown || l.Lost.Value != 0.8 {
		t.Errorf("%+v", l)
	}
	for _, m := range []Metric{MetricRecall, MetricSpecificity, MetricBalancedAccuracy, MetricAccuracy} {
		if l := MeasureLoss(nil, m, 0, LossConfidence); l.Shown || l.Lost.Defined || l.AtLeast.Defined || l.Smallest.Defined {
			t.Errorf("%s of nothing: %+v", m, l)
		}
		if parsed, err := ParseMetric(string(m)); err != nil || parsed != m {
			t.Errorf("ParseMetric(%q): %q, %v", m, parsed, err)
		}
	}
	if _, err := ParseMetric("f1"); err == nil {
		t.Error("f1 is a metric")
	}
}

// The search finds what trying everything finds, and what it says is so.
func TestSmallestLoss(t *testing.T) {
	const z = 1.6448536269514722
	rng := rand.New(rand.NewPCG(3, 4))
	random := func() agreement.Paired {
		return agreement.Paired{Both: rng.IntN(15), OnlyFirst: rng.IntN(3), OnlySecond: rng.IntN(3), Neither: 1 + rng.IntN(10)}
	}
	for range 300 {
		strata := []agreement.Paired{random(), random()}[:1+rng.IntN(2)]
		allowed := float64(rng.IntN(4)) / 20
		best := math.Inf(1)
		for j := range strata[0].Both + strata[0].OnlyFirst + 1 {
			losing := []agreement.Paired{afterLosing(strata[0], j)}
			if len(strata) == 1 {
				if lost, least := leastLoss(losing, z); least > allowed {
					best = min(best, lost)
				}
				continue
			}
			for k := range strata[1].Both + strata[1].OnlyFirst + 1 {
				if lost, least := leastLoss(append(losing[:1:1], afterLosing(strata[1], k)), z); least > allowed {
					best = min(best, lost)
				}
			}
		}
		got := smallestLoss(strata, allowed, z)
		if got.Defined != !math.IsInf(best, 1) || got.Defined && math.Abs(got.Value-best) > 1e-12 {
			t.Fatalf("%+v, allowed %v: %+v, want %v", strata, allowed, got, best)
		}
	}
}

// Castings that all go one way are as good as one of them.
func TestLossOfCastings(t *testing.T) {
	var once, thrice []Pair
	for i, p := range table(dialogue.Yes, 20, 9, 2, 9) {
		p.ID = string(rune('0' + i))
		once = append(once, p)
		thrice = append(thrice, p, p, p)
	}
	a, b := MeasureLoss(once, MetricRecall, 0.05, LossConfidence), MeasureLoss(thrice, MetricRecall, 0.05, LossConfidence)
	near(t, "lost", b.Lost, a.Lost.Value, 1e-12)
	near(t, "at least", b.AtLeast, a.AtLeast.Value, 0.01) // but for a correction of half a pair
	if b.Shown != a.Shown || b.N != 3*a.N {
		t.Errorf("once %+v, thrice %+v", a, b)
	}
}
