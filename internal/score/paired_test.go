package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func pairs(truth dialogue.Truth, first, second vote.Verdict, n int) []Pair {
	return slices.Repeat([]Pair{{truth, first, second}}, n)
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
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(want, got, near); diff != "" {
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
