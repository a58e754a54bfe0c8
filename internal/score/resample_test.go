package score

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func near(t *testing.T, name string, got Figure, want, tolerance float64) {
	t.Helper()
	if !got.Defined || !(math.Abs(got.Value-want) <= tolerance) {
		t.Errorf("%s is %+v, want %v", name, got, want)
	}
}

func TestMCC(t *testing.T) {
	for _, test := range []struct {
		c      Confusion
		want   float64
		source string
	}{
		{Confusion{Yes: Verdicts{Yes: 6, No: 2}, No: Verdicts{Yes: 1, No: 3}}, 0.478, "Wikipedia, Phi coefficient: cats and dogs"},
		{Confusion{Yes: Verdicts{Yes: 2, No: 1}, No: Verdicts{Yes: 1}}, -0.333, "scikit-learn, matthews_corrcoef"},
		{paperConfusion, 0.163, "the paper's counts, by the formula"},
		{Confusion{Yes: Verdicts{Yes: 5, Unresolved: 9}, No: Verdicts{No: 4, Unresolved: 9}}, 1, "all decided ones right"},
	} {
		near(t, test.source, MCC(test.c), test.want, 5e-4)
	}
	for _, c := range []Confusion{{}, {Yes: Verdicts{Yes: 3, No: 3}}, {Yes: Verdicts{Yes: 3}, No: Verdicts{Yes: 3}}} {
		if f := MCC(c); f.Defined {
			t.Errorf("of %+v: %+v, want undefined", c, f)
		}
	}
}

// Balanced accuracy is (1 + d)/2, where d is recall minus the false alarms' share,
// so that its interval is that of d.
func TestBalancedAccuracy(t *testing.T) {
	for _, test := range []struct {
		hits, of, alarms, among int
		d, low, high            float64 // Newcombe 1998, Table II, method 10
	}{
		{56, 70, 48, 80, 0.2, 0.0524, 0.3339},
		{9, 10, 3, 10, 0.6, 0.1705, 0.8090},
		{10, 10, 0, 10, 1, 0.6075, 1},
	} {
		value, low, high := BalancedAccuracy(Confusion{
			Yes: Verdicts{Yes: test.hits, No: test.of - test.hits},
			No:  Verdicts{Yes: test.alarms, No: test.among - test.alarms},
		})
		name := fmt.Sprintf("%d/%d against %d/%d", test.hits, test.of, test.alarms, test.among)
		near(t, name, value, (1+test.d)/2, 1e-12)
		near(t, name+", low", low, (1+test.low)/2, 5e-5)
		near(t, name+", high", high, (1+test.high)/2, 5e-5)
	}
	if value, low, _ := BalancedAccuracy(Confusion{Yes: Verdicts{Yes: 3}}); value.Defined || low.Defined {
		t.Errorf("without truth NO: %+v %+v", value, low)
	}
}

func TestAUC(t *testing.T) {
	at := func(truth dialogue.Truth, p ...float64) (out []Scored) {
		for _, v := range p {
			out = append(out, Scored{Truth: truth, P: v})
		}
		return out
	}
	// scikit-learn, roc_auc_score.
	near(t, "scikit-learn's example", AUC(slices.Concat(at(dialogue.No, 0.1, 0.4), at(dialogue.Yes, 0.35, 0.8))), 0.75, 1e-12)
	near(t, "all equal", AUC(slices.Concat(at(dialogue.No, 0.5, 0.5, 0.5), at(dialogue.Yes, 0.5))), 0.5, 1e-12)
	near(t, "apart", AUC(slices.Concat(at(dialogue.No, 0.1), at(dialogue.Yes, 0.5), at(dialogue.Unknown, 0))), 1, 1e-12)
	if f := AUC(at(dialogue.Yes, 0.5)); f.Defined {
		t.Errorf("of one truth: %+v", f)
	}

	// Against all pairs, with many ties.
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		var yes, no []float64
		for range 1 + rng.IntN(20) {
			yes = append(yes, float64(rng.IntN(5)))
		}
		for range 1 + rng.IntN(20) {
			no = append(no, float64(rng.IntN(5)))
		}
		var wins float64
		for _, a := range yes {
			for _, b := range no {
				switch {
				case a > b:
					wins++
				case a == b:
					wins += 0.5
				}
			}
		}
		near(t, fmt.Sprint(yes, no), AUC(slices.Concat(at(dialogue.Yes, yes...), at(dialogue.No, no...))), wins/float64(len(yes)*len(no)), 1e-12)
	}
}

func TestHolm(t *testing.T) {
	p := func(values ...float64) (out []Figure) {
		for _, v := range values {
			out = append(out, defined(v))
		}
		return out
	}
	for _, test := range []struct {
		p, want []Figure
		source  string
	}{
		// At 0.05 the first and the last are rejected, as there.
		{p(0.01, 0.04, 0.03, 0.005), p(0.03, 0.06, 0.06, 0.02), "Wikipedia, Holm-Bonferroni method"},
		{p(0.01, 0.02, 0.03, 0.04, 0.05), p(0.05, 0.08, 0.09, 0.09, 0.09), `R, p.adjust(1:5/100, "holm")`},
		{p(0.6, 0.7), p(1, 1), "never above 1"},
		{[]Figure{defined(0.04), undefined("none"), defined(0.01)}, []Figure{defined(0.04), undefined("none"), defined(0.02)}, "undefined ones are no tests"},
	} {
		tolerant := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
		if diff := cmp.Diff(test.want, Holm(test.p), tolerant); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.source, diff)
		}
	}
}

func TestRestate(t *testing.T) {
	// Altman and Bland's liver scans: 231 of 258 abnormal, 54 of 86 normal ones found.
	scans := Confusion{Yes: Verdicts{Yes: 231, No: 27}, No: Verdicts{Yes: 32, No: 54}}
	there, rarer := Restate(scans, 0.75), Restate(scans, 0.25)
	near(t, "precision in the study", there.Precision, 0.88, 5e-3)
	near(t, "precision at 0.25", rarer.Precision, 0.45, 5e-3)
	near(t, "negative predictive value at 0.25", rarer.NPV, 0.95, 5e-3)

	// At its own prevalence a set's figures are its own.
	own, c := Restate(paperConfusion, 250.0/340), Classify(paperConfusion, Failed{})
	near(t, "precision", own.Precision, c.Yes.Precision.Value, 1e-12)
	near(t, "NPV", own.NPV, c.No.Precision.Value, 1e-12)
	near(t, "F1", own.F1, c.Yes.F1.Value, 1e-12)
	near(t, "accuracy", own.Accuracy, c.Accuracy.Value, 1e-12)
	near(t, "accuracy without YES", Restate(paperConfusion, 0).Accuracy, 74.0/90, 1e-12)

	for _, bad := range []AtPrevalence{Restate(paperConfusion, math.NaN()), Restate(paperConfusion, -0.1), Restate(Confusion{Yes: Verdicts{Yes: 1}}, 0.5)} {
		data, err := json.Marshal(bad)
		if err != nil || bad.Accuracy.Defined || bad.Precision.Defined || strings.Contains(string(data), "NaN") {
			t.Errorf("%s, %v: want undefined", data, err)
		}
	}
}

func TestResample(t *testing.T) {
	// The first so many of n dialogues are hits.
	share := func(hits int) Statistics {
		return func(weights []int) []Figure {
			n, all := 0, 0
			for unit, w := range weights {
				if all += w; unit < hits {
					n += w
				}
			}
			return []Figure{ratio(n, all, "no dialogues")}
		}
	}
	e := Resample([]int{100}, DefaultBootstrap(), share(30))[0]
	// A hundred draws of 0.3 are binomial: its 2.5% and 97.5% quantiles are 21 and 39.
	if e.Value != defined(0.3) || e.Low != defined(0.21) || e.High != defined(0.39) || e.N != 100 || e.Undefined != 0 {
		t.Errorf("%+v, want 0.3 from 0.21 to 0.39", e)
	}
	if again := Resample([]int{100}, DefaultBootstrap(), share(30))[0]; again != e {
		t.Errorf("the same arguments give %+v, then %+v", e, again)
	}
	for name, none := range map[string]Estimate{
		"few":       Resample([]int{100, 3}, DefaultBootstrap(), share(30))[0],
		"no draws":  Resample([]int{100}, Bootstrap{}, share(30))[0],
		"undefined": Resample([]int{0}, DefaultBootstrap(), share(0))[0],
	} {
		if none.Low.Defined || none.High.Defined || none.Low.Reason == "" {
			t.Errorf("%s: %+v, want no interval, with a reason", name, none)
		}
	}
}

// A draw has no value when it misses all of the first so many dialogues of 40: up
// to 5% of such draws are counted and left out, more leave no interval.
func TestUndefinedDraws(t *testing.T) {
	for _, test := range []struct {
		needed int
		share  float64 // (1 - needed/40)^40
		within bool
	}{{4, 0.0148, true}, {2, 0.1285, false}} {
		e := Resample([]int{40}, DefaultBootstrap(), func(weights []int) []Figure {
			hits := 0
			for _, w := range weights[:test.needed] {
				hits += w
			}
			return []Figure{ratio(hits, hits, "none of them")}
		})[0]
		if got := float64(e.Undefined) / 10_000; math.Abs(got-test.share) > 0.012 {
			t.Errorf("%d needed: %.4f of the draws are undefined, want about %.4f", test.needed, got, test.share)
		}
		if e.Low.Defined != test.within || !test.within && !strings.Contains(e.Low.Reason, "more than 5%") {
			t.Errorf("%d needed: %+v", test.needed, e)
		}
	}
}

func TestEstimates(t *testing.T) {
	var items []Item
	var scored []Scored
	add := func(truth dialogue.Truth, verdict vote.Verdict, n int) {
		for i := range n {
			items = append(items, Item{Truth: truth, Verdict: verdict})
			p := float64(i) / float64(n)
			if verdict == vote.Yes {
				p += 0.5
			}
			scored = append(scored, Scored{Truth: truth, P: p})
		}
	}
	add(dialogue.Yes, vote.Yes, 40)
	add(dialogue.Yes, vote.No, 10)
	add(dialogue.No, vote.Yes, 20)
	add(dialogue.No, vote.No, 30)
	items = append(items, Item{Truth: dialogue.Yes, Verdict: vote.Unresolved}, Item{Truth: dialogue.No, Failed: true}, Item{Verdict: vote.Yes})

	b := Bootstrap{Draws: 2000, Seed: 5}
	mcc := EstimateDependent(items, b).MCC
	near(t, "MCC", mcc.Value, 0.408248, 1e-6) // (40*30 - 20*10) / sqrt(60*50*40*50)
	if mcc.N != 100 || !(0.2 < mcc.Low.Value && mcc.Low.Value < mcc.Value.Value && mcc.Value.Value < mcc.High.Value && mcc.High.Value < 0.6) {
		t.Errorf("MCC: %+v", mcc)
	}
	area := EstimateAUC(scored, b)
	if area.Value != AUC(scored) || !(area.Low.Value < area.Value.Value && area.Value.Value < area.High.Value) {
		t.Errorf("AUC: %+v", area)
	}
	// The standard error of Hanley and McNeil (1982, formula 1, for exponential
	// scores): other than these, so that only about as wide.
	a := area.Value.Value
	q1, q2 := a/(2-a), 2*a*a/(1+a)
	standard := math.Sqrt((a*(1-a) + 49*(q1-a*a) + 49*(q2-a*a)) / (50 * 50))
	if ratio := (area.High.Value - area.Low.Value) / (2 * z95 * standard); ratio < 0.8 || ratio > 1.25 {
		t.Errorf("AUC's interval is %.2f times as wide as Hanley and McNeil's", ratio)
	}
}
