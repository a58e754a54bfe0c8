package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func pairs(truth dialogue.Truth, first, second vote.Verdict, n int) []Pair {
	return slices.Repeat([]Pair{{Truth: truth, First: first, Second: second}}, n)
}

// The exact test against published values.
func TestMcNemarPublished(t *testing.T) {
	for _, test := range []struct {
		first, second int // right under one alone
		want          float64
		tolerance     float64
		source        string
	}{
		{121, 59, 0.000004, 5e-7, "VassarStats, as quoted in statsmodels' test_mcnemar_exact"},
		{70, 59, 0.378688, 5e-7, "the same"},
		{80, 59, 0.089452, 5e-7, "the same"},
		{30, 60, 0.00206, 5e-7, "the same"},
		{10, 30, 0.002221, 5e-7, "the same"},
		{10, 10, 1, 0, "the same"},
		{150, 86, 3.716e-05, 5e-9, "R, mcnemar.exact of package exact2x2 on Agresti's presidential approval (1990, p. 350)"},
		{1, 7, 0.0703, 5e-5, "Fagerland, Lydersen, Laake, BMC Medical Research Methodology 13, 2013, 91: airway hyper-responsiveness"},
		{6, 16, 0.0525, 5e-5, "the same: complete response"},
		{25, 15, 0.1538599441628321, 1e-12, "2 P(X <= 15), X binomial (40, 1/2), in whole numbers"},
		{2900, 3000, 0.1974390248435765, 1e-9, "2 P(X <= 2900), X binomial (5900, 1/2), in whole numbers"},
		{0, 5, 0.0625, 1e-12, "2 / 2^5"},
	} {
		g := Compare(slices.Concat(
			pairs(dialogue.Yes, vote.Yes, vote.No, test.first),
			pairs(dialogue.Yes, vote.No, vote.Yes, test.second),
			pairs(dialogue.Yes, vote.Yes, vote.Yes, 101),
			pairs(dialogue.Yes, vote.No, vote.No, 33),
		)).Recall
		if !g.McNemar.Defined || math.Abs(g.McNemar.Value-test.want) > test.tolerance {
			t.Errorf("%d against %d: p = %+v, want %v by %s", test.first, test.second, g.McNemar, test.want, test.source)
		}
	}
}

// The interval of the difference against published values.
func TestDifferencePublished(t *testing.T) {
	for _, test := range []struct {
		both, first, second, neither int
		difference, low, high        float64
		source                       string
	}{
		{59, 6, 16, 80, -0.0621, -0.1186, -0.0046, "R, Newcombe_square_and_add_CI_paired_2x2 of package contingencytables"},
		{36, 12, 2, 0, 0.2, 0.0569, 0.3404, "Newcombe 1998, method 10"},
		{0, 3, 0, 0, 1, 1 - 0.561497*math.Sqrt2, 1, "no correlation: both Wilson intervals are z²/(n+z²) wide"},
	} {
		g := Compare(slices.Concat(
			pairs(dialogue.No, vote.No, vote.No, test.both),
			pairs(dialogue.No, vote.No, vote.Yes, test.first),
			pairs(dialogue.No, vote.Yes, vote.No, test.second),
			pairs(dialogue.No, vote.Yes, vote.Yes, test.neither),
		)).Specificity
		near(t, test.source+": difference", g.Difference, test.difference, 5e-5)
		near(t, test.source+": low", g.Low, test.low, 5e-5)
		near(t, test.source+": high", g.High, min(1, test.high), 5e-5)
	}
}

// The interval holds the difference, whatever the counts.
func TestDifferenceInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		g := Gap{OnlyFirst: rng.IntN(6), OnlySecond: rng.IntN(6)}
		both, neither := rng.IntN(40), rng.IntN(40)
		if g.N = both + neither + g.OnlyFirst + g.OnlySecond; g.N == 0 {
			continue
		}
		g.First, g.Second = Wilson(both+g.OnlyFirst, g.N), Wilson(both+g.OnlySecond, g.N)
		g.Difference = ratio(g.OnlyFirst-g.OnlySecond, g.N, "")
		low, high := differenceInterval(g, both, neither)
		if d := g.Difference.Value; !(-1 <= low.Value && low.Value <= d && d <= high.Value && high.Value <= 1) {
			t.Fatalf("%d and %d of %d, %d: %v from %v to %v", g.OnlyFirst, g.OnlySecond, both, neither, d, low.Value, high.Value)
		}
	}
}

func TestCompare(t *testing.T) {
	all := slices.Concat(
		pairs(dialogue.Yes, vote.Yes, vote.Yes, 3),
		pairs(dialogue.Yes, vote.No, vote.Yes, 2),
		pairs(dialogue.Yes, vote.Yes, vote.No, 1),
		pairs(dialogue.Yes, vote.No, vote.No, 1),
		pairs(dialogue.Yes, vote.Unresolved, vote.Yes, 1),
		pairs(dialogue.Yes, vote.Yes, vote.Unresolved, 1),
		pairs(dialogue.Yes, vote.Unresolved, vote.Unresolved, 1),
		pairs(dialogue.No, vote.No, vote.Yes, 1),
		pairs(dialogue.No, vote.No, vote.No, 3),
		pairs(dialogue.Unknown, vote.Yes, vote.No, 5),
	)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	got := Compare(all)
	want := Gaps{
		Recall: Gap{
			N: 7, First: Wilson(4, 7), Second: Wilson(5, 7), Difference: defined(-1.0 / 7), OnlyFirst: 1, OnlySecond: 2,
			McNemar: defined(1), Open: 3,
			// Of ten pairs: the decided ones give -1; the open ones -1, 0, -1 at worst and 0, 1, 1 at best.
			Lowest: defined(-3.0 / 10), Highest: defined(1.0 / 10),
		},
		Specificity: Gap{
			N: 4, First: Wilson(4, 4), Second: Wilson(3, 4), Difference: defined(1.0 / 4), OnlyFirst: 1,
			McNemar: defined(1), Lowest: defined(1.0 / 4), Highest: defined(1.0 / 4),
		},
	}
	tolerant := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(want, got, tolerant, cmpopts.IgnoreFields(Gap{}, "Low", "High")); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}

func TestCompareUndefined(t *testing.T) {
	g := Compare(pairs(dialogue.No, vote.Unresolved, vote.No, 2))
	if g.Specificity.Difference.Defined || g.Specificity.McNemar.Defined || g.Specificity.Open != 2 {
		t.Errorf("nothing decided under both: %+v", g.Specificity)
	}
	if g.Specificity.Lowest != defined(-1) || g.Specificity.Highest != defined(0) {
		t.Errorf("bounds %+v to %+v, want -1 to 0", g.Specificity.Lowest, g.Specificity.Highest)
	}
	if g.Recall.Lowest.Defined || g.Recall.Highest.Defined {
		t.Errorf("no pair of truth YES, and bounds: %+v", g.Recall)
	}
	if same := Compare(pairs(dialogue.Yes, vote.Yes, vote.Yes, 4)).Recall; same.Difference != defined(0) || same.McNemar.Defined {
		t.Errorf("equal conditions: difference %+v and p %+v, want 0 and none", same.Difference, same.McNemar)
	}
}
