package score

import (
	"fmt"
	"slices"
	"testing"

	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// counts is a confusion of decided items.
func counts(yesYes, yesNo, noYes, noNo int) Confusion {
	return Confusion{Yes: Verdicts{Yes: yesYes, No: yesNo}, No: Verdicts{Yes: noYes, No: noNo}}
}

// Every value is of other programs than this one: Debian 12's scikit-learn 1.2.1,
// statsmodels 0.13.5 and SciPy 1.10.1, asked once by hand as the source column says.
func TestAgainstReferences(t *testing.T) {
	paper, small := paperConfusion, counts(7, 3, 2, 9)
	scored := slices.Concat(
		probabilities(dialogue.Yes, .9, .8, .8, .35, .1),
		probabilities(dialogue.No, .8, .4, .35, .2, .1, .05),
	)
	paired := func(first, second int) Figure {
		return Compare(table(dialogue.Yes, 5, first, second, 5)).Recall.McNemar
	}
	holm := Holm([]Figure{defined(0.0135), defined(0.2), defined(0.04), defined(0.3), defined(0.012), defined(0.9)})
	for _, test := range []struct {
		name   string
		got    Figure
		want   float64
		source string
	}{
		{"precision, paper", Classify(paper, Failed{}).Yes.Precision, 0.8446601941747572, "sklearn precision_score"},
		{"precision of NO, paper", Classify(paper, Failed{}).No.Precision, 0.31223628691983124, "sklearn precision_score, pos_label=0"},
		{"F1, paper", Classify(paper, Failed{}).Yes.F1, 0.4929178470254957, "sklearn f1_score"},
		{"macro F1, paper", Classify(paper, Failed{}).Macro.F1, 0.47275861770235034, "sklearn f1_score, macro"},
		{"weighted F1, paper", Classify(paper, Failed{}).Weighted.F1, 0.4822453138544187, "sklearn f1_score, weighted"},
		{"accuracy, paper", Classify(paper, Failed{}).Accuracy, 0.47352941176470587, "sklearn accuracy_score"},
		{"balanced accuracy, paper", Classify(paper, Failed{}).BalancedAccuracy, 0.5851111111111111, "sklearn balanced_accuracy_score"},
		{"MCC, paper", MCC(paper), 0.16342358358195347, "sklearn matthews_corrcoef"},
		{"MCC, small", MCC(small), 0.5229577884350213, "sklearn matthews_corrcoef"},
		{"macro F1, small", Classify(small, Failed{}).Macro.F1, 0.7597254004576658, "sklearn f1_score, macro"},
		{"precision at 0.1", Restate(paper, 0.1).Precision, 0.17864476386036965, "sklearn precision_score, items weighted to 0.1"},
		{"NPV at 0.1", Restate(paper, 0.1).NPV, 0.9190263288623945, "the same, pos_label=0"},
		{"F1 at 0.1", Restate(paper, 0.1).F1, 0.2360922659430126, "sklearn f1_score, weighted to 0.1"},
		{"accuracy at 0.1", Restate(paper, 0.1).Accuracy, 0.7748, "sklearn accuracy_score, weighted to 0.1"},
		{"MCC at 0.1", Restate(paper, 0.1).MCC, 0.1289410347800183, "sklearn matthews_corrcoef, weighted to 0.1"},
		{"MCC at 0.5", Restate(paper, 0.5).MCC, 0.19334532072497315, "sklearn matthews_corrcoef, weighted to 0.5"},
		{"recall's low end, paper", Wilson(87, 250).Low, 0.2916574757317542, "statsmodels proportion_confint, wilson"},
		{"recall's high end, paper", Wilson(87, 250).High, 0.4089430473148608, "statsmodels proportion_confint, wilson"},
		{"specificity's low end, paper", Wilson(74, 90).Low, 0.7305610795529596, "statsmodels proportion_confint, wilson"},
		{"9 of 10, low", Wilson(9, 10).Low, 0.5958499732047614, "statsmodels proportion_confint, wilson"},
		{"0 of 10, high", Wilson(0, 10).High, 0.27753279986288926, "statsmodels proportion_confint, wilson"},
		{"AUC with ties", AUC(scored), 0.7333333333333333, "sklearn roc_auc_score, SciPy mannwhitneyu / 30"},
		{"Brier score", EstimateBrier(scored, Bootstrap{}).Value, 0.20886363636363636, "sklearn brier_score_loss"},
		{"McNemar 1:8", paired(1, 8), 0.0390625, "statsmodels mcnemar, exact; SciPy binomtest"},
		{"McNemar 9:24", paired(9, 24), 0.013530986849218607, "statsmodels mcnemar, exact"},
		{"McNemar 121:59", paired(121, 59), 4.4344492637551645e-06, "statsmodels mcnemar, exact"},
		{"McNemar 0:5", paired(0, 5), 0.0625, "statsmodels mcnemar, exact"},
		{"Holm, 1st", holm[0], 0.072, "statsmodels multipletests, holm"},
		{"Holm, 2nd", holm[1], 0.6, "statsmodels multipletests, holm"},
		{"Holm, 3rd", holm[2], 0.16, "statsmodels multipletests, holm"},
		{"Holm, 5th", holm[4], 0.072, "statsmodels multipletests, holm"},
		{"Student's t, 19", defined(t95(19)), 2.093024054408263, "SciPy t.ppf"},
		{"Student's t, 339", defined(t95(339)), 1.9669864608402778, "SciPy t.ppf"},
		{"kappa of two judges", ofCoefficient(agreement.CohenOfTable([2][2]int{{87, 163}, {16, 74}})), 0.111792177466433, "sklearn cohen_kappa_score"},
		{"kappa, small", ofCoefficient(agreement.CohenOfTable([2][2]int{{7, 3}, {2, 9}})), 0.5205479452054795, "sklearn cohen_kappa_score"},
	} {
		near(t, test.name+" ("+test.source+")", test.got, test.want, 1e-9)
	}
}

func probabilities(truth dialogue.Truth, p ...float64) []Scored {
	var out []Scored
	for _, v := range p {
		out = append(out, Scored{Truth: truth, P: v})
	}
	return out
}

// The stratified bootstrap of the paper's counts against NumPy's own draws: 100,000
// pairs of binomial counts (250 of 0.348, 90 of 0.178), quantiles 2.5% and 97.5%.
// Two bootstraps agree as far as their draws do.
func TestBootstrapAgainstReference(t *testing.T) {
	d := EstimateDependent(itemsOf(paperConfusion), DefaultBootstrap())
	for name, test := range map[string]struct {
		got       Estimate
		low, high float64
	}{
		"MCC":       {d.MCC, 0.06617, 0.25476},
		"precision": {d.Precision, 0.78070, 0.90598},
		"NPV":       {d.NPV, 0.28395, 0.34071},
		"F1":        {d.F1, 0.42730, 0.55495},
		"accuracy":  {d.Accuracy, 0.42647, 0.52059},
	} {
		near(t, name+", low", test.got.Low, test.low, 0.006)
		near(t, name+", high", test.got.High, test.high, 0.006)
	}
	if d.Prevalence.Stated != "250:90" || d.MCC.N != 340 {
		t.Errorf("of %s, n = %d", d.Prevalence.Stated, d.MCC.N)
	}
}

// Against a few lines of Python that try every length and both directions on all
// other clips.
func TestDurationBaseline(t *testing.T) {
	timed := func(truth dialogue.Truth, verdict vote.Verdict, seconds ...float64) []Item {
		var items []Item
		for _, s := range seconds {
			items = append(items, Item{Truth: truth, Verdict: verdict, Seconds: s})
		}
		return items
	}
	yes := timed(dialogue.Yes, vote.No, 31, 38, 36, 25, 38, 39, 39, 12, 23, 28, 18, 21)
	no := timed(dialogue.No, vote.No, 45, 52, 43, 26, 47, 54, 28, 41, 33, 56, 22)
	c, fitted, reason := byDuration(slices.Concat(yes, no))
	if c != counts(12, 0, 4, 7) || reason != "" {
		t.Errorf("%+v, %q; Python has 12, 0, 4, 7", c, reason)
	}
	near(t, "fitted to all", *fitted, (1+7./11)/2, 1e-12) // up to 39 s is YES
	for name, items := range map[string][]Item{
		"1 of 24 decided items have no known length": slices.Concat(yes, no, timed(dialogue.No, vote.Yes, 0)),
		"fewer than two dialogues of one truth":      slices.Concat(yes, no[:1]),
		"":                                           slices.Concat(yes, no, timed(dialogue.No, vote.Unresolved, 0)), // it is not scored
		"fewer than two dialogues of one truth, of one": slices.Concat(yes, castings("a", dialogue.No, vote.No, vote.Yes)),
	} {
		if _, _, reason := byDuration(items); !slices.Contains([]string{reason, reason + ", of one"}, name) {
			t.Errorf("reason %q, want %q", reason, name)
		}
	}
	for _, b := range Baselines(yes) {
		if b.Name == Duration && (b.Undefined == "" || b.Classification.Accuracy.Defined) {
			t.Errorf("of one truth: %+v", b)
		}
	}
}

// castings are the verdicts on one dialogue.
func castings(id string, truth dialogue.Truth, verdicts ...vote.Verdict) []Item {
	var items []Item
	for _, v := range verdicts {
		items = append(items, Item{ID: id, Truth: truth, Verdict: v, Seconds: 20})
	}
	return items
}

// A dialogue that stands several times is no more evidence than one that stands once:
// what every casting repeats has the intervals of one casting alone.
func TestCastingsAreNotIndependent(t *testing.T) {
	var once, thrice []Item
	var trials []Trial
	var values []Valued
	for i := range 60 {
		truth, verdict := dialogue.Yes, vote.Yes
		if i >= 40 {
			truth = dialogue.No
		}
		if i%3 == 0 {
			verdict = vote.No
		}
		id := fmt.Sprintf("dialogue %02d", i)
		once = append(once, castings(id, truth, verdict)...)
		thrice = append(thrice, castings(id, truth, verdict, verdict, verdict)...)
		for range 3 {
			trials = append(trials, Trial{id, i%3 == 0})
			values = append(values, Valued{id, float64(i % 5)})
		}
	}
	single, triple := ClassifyItems(once), ClassifyItems(thrice)
	if single.Intervals.Method != MethodWilson || triple.Intervals.Method != MethodBootstrap {
		t.Errorf("methods %s and %s", single.Intervals.Method, triple.Intervals.Method)
	}
	width := func(low, high Figure) float64 { return high.Value - low.Value }
	for name, pair := range map[string][2]float64{
		"recall":            {width(triple.Intervals.Recall.Low, triple.Intervals.Recall.High), width(single.Intervals.Recall.Low, single.Intervals.Recall.High)},
		"specificity":       {width(triple.Intervals.Specificity.Low, triple.Intervals.Specificity.High), width(single.Intervals.Specificity.Low, single.Intervals.Specificity.High)},
		"accuracy":          {width(triple.Intervals.Accuracy.Low, triple.Intervals.Accuracy.High), width(single.Intervals.Accuracy.Low, single.Intervals.Accuracy.High)},
		"balanced accuracy": {width(triple.Intervals.BalancedAccuracy.Low, triple.Intervals.BalancedAccuracy.High), width(single.Intervals.BalancedAccuracy.Low, single.Intervals.BalancedAccuracy.High)},
		"share":             {width(Share(trials).Low, Share(trials).High), width(Wilson(20, 60).Low, Wilson(20, 60).High)},
	} {
		if ratio := pair[0] / pair[1]; ratio < 0.85 || ratio > 1.2 {
			t.Errorf("%s: an interval of %.3f with castings, %.3f without", name, pair[0], pair[1])
		}
	}
	if m := MeanByDialogue(values); m.N != 60 || m.Value.Value != 2 {
		t.Errorf("mean by dialogue: %+v, want 2 of 60", m)
	}
	a, b := EstimateDependent(once, DefaultBootstrap()), EstimateDependent(thrice, DefaultBootstrap())
	if a.MCC != b.MCC || b.MCC.N != 60 {
		t.Errorf("MCC %+v with castings, %+v without", b.MCC, a.MCC)
	}
}

// Pairs of one dialogue count once in the test, by the way in which more of them go.
func TestClusteredPairs(t *testing.T) {
	var single, clustered []Pair
	add := func(id string, first, second vote.Verdict, times int) {
		p := Pair{ID: id, Truth: dialogue.Yes, First: first, Second: second}
		single = append(single, p)
		clustered = append(clustered, slices.Repeat([]Pair{p}, times)...)
	}
	for i := range 9 {
		add(fmt.Sprint("first ", i), vote.Yes, vote.No, 4)
	}
	for i := range 24 {
		add(fmt.Sprint("second ", i), vote.No, vote.Yes, 4)
	}
	one, four := Compare(single).Recall, Compare(clustered).Recall
	near(t, "one pair a dialogue", one.McNemar, 0.013530986849218607, 1e-12)
	near(t, "four pairs a dialogue", four.McNemar, 0.013530986849218607, 1e-12)
	if four.N != 4*one.N || four.Difference != one.Difference || !four.Low.Defined {
		t.Errorf("%+v, of one pair each %+v", four, one)
	}
	// One casting each way: the dialogue goes neither way.
	even := Compare([]Pair{{"a", dialogue.Yes, vote.Yes, vote.No}, {"a", dialogue.Yes, vote.No, vote.Yes}}).Recall
	if even.McNemar.Defined || even.OnlyFirst != 1 || even.OnlySecond != 1 {
		t.Errorf("even: %+v", even)
	}
}

// Of few dialogues with castings there is no interval, of their mean neither.
func TestFewClusteredPairs(t *testing.T) {
	var few []Pair
	for _, truth := range []dialogue.Truth{dialogue.Yes, dialogue.No} {
		for i := range 12 {
			few = append(few, Pair{fmt.Sprint(i % 6), truth, vote.Yes, vote.Verdict([]string{"YES", "NO"}[i%2])})
		}
	}
	gaps := Compare(few)
	if s := gaps.BalancedAccuracy(); !s.Difference.Defined || s.Low.Defined || gaps.Recall.Low.Defined || s.Low.Reason != gaps.Recall.Low.Reason {
		t.Errorf("%+v of %+v: want a difference without an interval", s, gaps)
	}
}

func FuzzParsePrevalence(f *testing.F) {
	for _, s := range []string{"250:90", "0.1", "1e-3", "0:0", ":", "NaN", "+Inf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePrevalence(s)
		if err != nil {
			return
		}
		if again, err := ParsePrevalence(p.Stated); !(p.Share >= 0 && p.Share <= 1) || err != nil || again != p {
			t.Errorf("%q: %+v, and again %+v, %v", s, p, again, err)
		}
	})
}

func TestParsePrevalence(t *testing.T) {
	for s, want := range map[string]Prevalence{
		"250:90": {250.0 / 340, "250:90"}, "1:9": {0.1, "1:9"}, "0.1": {0.1, "0.1"}, " 1 ": {1, "1"}, "0": {0, "0"}, "0:5": {0, "0:5"},
	} {
		if got, err := ParsePrevalence(s); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "x", "1.1", "-0.1", "NaN", "0:0", "1:", ":1", "-1:2", "1:2:3", "99999999999:1"} {
		if got, err := ParsePrevalence(s); err == nil {
			t.Errorf("%q: %+v, want an error", s, got)
		}
	}
}
