package baseline

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/recognize"
)

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-6) {
		t.Errorf("%s = %.9f, want %.9f", name, got, want)
	}
}

func TestMetrics(t *testing.T) {
	scores := []float64{.9, .8, .6, .6, .5, .3, .1}
	yes := []bool{true, true, false, true, true, false, false}
	m := measure(scores, yes) // YES: 3 of 4 found, 4 said; NO: 2 of 3 found, 3 said
	near(t, "accuracy", m.Accuracy, 5./7)
	near(t, "balanced accuracy", m.BalancedAccuracy, (3./4+2./3)/2)
	near(t, "macro F1", m.MacroF1, (2*3./(4+4)+2*2./(3+3))/2)
	near(t, "AUC", m.AUC, 10.5/12)
	if m.N != 7 || m.Yes != 4 {
		t.Errorf("n %d, YES %d", m.N, m.Yes)
	}
	near(t, "AUC of one truth", measure([]float64{.1}, []bool{true}).AUC, .5)
	if none := measure(nil, nil); none != (Metrics{AUC: .5}) {
		t.Errorf("of nothing: %+v", none)
	}
}

func TestCalibrationError(t *testing.T) {
	// Bins .9-1: said 1.9 of 2, true 1; bin .2-.3: said .25, true 0; total 3.
	near(t, "ECE", calibrationError([]float64{.9, 1, .25}, []bool{true, false, false}), (.9+.25)/3)
	near(t, "ECE of nothing", calibrationError(nil, nil), 0)
}

// At the solution the gradient is 0 and every step costs.
func TestFitIsOptimal(t *testing.T) {
	var r regression
	r.dims = 3
	for i := range 60 {
		x := []feature{{0, float64(i%5) - 2}, {2, math.Sin(float64(i))}}
		r.x = append(r.x, x)
		r.target = append(r.target, float64(class(i%5 > 2 || i%7 == 0)))
		r.weights = append(r.weights, 1+float64(i%2))
	}
	l := r.fit()
	w := append(append([]float64{}, l.Weights...), l.Bias)
	p := make([]float64, len(r.x))
	loss := r.loss(w, p)
	if g := norm(r.gradient(w, p)); g > 1e-6 {
		t.Errorf("the gradient's length is %v at the solution", g)
	}
	for i := range w {
		for _, by := range []float64{-.01, .01} {
			moved := append([]float64{}, w...)
			moved[i] += by
			if r.loss(moved, p) <= loss {
				t.Errorf("moving weight %d by %v doesn't cost anything", i, by)
			}
		}
	}
	near(t, "the weight of an absent feature", l.Weights[1], 0)
}

// Four symmetric points have one unknown, which must solve the gradient equation.
func TestFitGolden(t *testing.T) {
	r := regression{x: [][]feature{{{0, -2}}, {{0, -1}}, {{0, 1}}, {{0, 2}}}, target: []float64{0, 0, 1, 1}, weights: []float64{1, 1, 1, 1}, dims: 1}
	l := r.fit()
	w := l.Weights[0] // w = 2*(1*sigmoid(-w) + 2*sigmoid(-2w)) by symmetry
	near(t, "bias", l.Bias, 0)
	near(t, "fixed point", w, 2*(sigmoid(-w)+2*sigmoid(-2*w)))
}

func TestCalibrateSeparable(t *testing.T) {
	var z []float64
	var yes []bool
	for i := range 40 {
		z, yes = append(z, float64(i-20)*100), append(yes, i >= 20)
	}
	p := calibrate(z, yes)
	if !(p.probability(2000) > .9 && p.probability(-2000) < .1) {
		t.Errorf("%+v", p)
	}
	if got := calibrate(z[:4], yes[:4]); got != (platt{Slope: 1}) {
		t.Errorf("too few examples: %+v, want no calibration", got)
	}
}

func TestVocabulary(t *testing.T) {
	documents := [][]string{strings.Fields("you owe me"), strings.Fields("you owe a lot"), strings.Fields("thank you")}
	v := learnVocabulary(documents, []bool{true, true, false})
	if diff := cmp.Diff([]string{"owe", "you", "you owe"}, v.terms); diff != "" {
		t.Fatalf("terms:\n%s", diff)
	}
	near(t, "idf of owe", v.idf[0], 1.28768) // ln(4/3)+1, six digits
	near(t, "idf of you", v.idf[1], 1)
	x := v.vector(strings.Fields("you you owe x"))
	raw := []float64{1.28768, 1 + math.Log(2), 1.28768}
	length := norm(raw)
	for i, f := range x {
		if f.index != i {
			t.Errorf("entry %d has index %d", i, f.index)
		}
		near(t, v.terms[i], f.value, raw[i]/length)
	}
	if got := v.vector(strings.Fields("nothing known")); len(got) != 0 {
		t.Errorf("of unknown words: %v", got)
	}
}

func TestVocabularyIsBounded(t *testing.T) {
	var documents [][]string
	var yes []bool
	for i := range 4 {
		var words []string
		for k := range maxTerms {
			words = append(words, fmt.Sprintf("w%d", k))
		}
		if i < 2 {
			words = append(words, "clue", "clue")
		}
		documents, yes = append(documents, words), append(yes, i < 2)
	}
	v := learnVocabulary(documents, yes)
	if _, kept := v.index["clue"]; len(v.terms) != maxTerms || !kept {
		t.Errorf("%d terms, the clue among them: %v; want %d with it", len(v.terms), kept, maxTerms)
	}
}

// What the words add must be the log-odds without the bias.
func TestContributionsAddUp(t *testing.T) {
	said := strings.Fields("you owe me you owe a lot you know")
	v := newVocabulary([]string{"lot", "owe", "you", "you owe"}, []float64{2, 1.5, 1, 3})
	l := linear{Bias: .3, Weights: []float64{.1, -.7, .4, 2}}
	added := v.contributions(said, l.Weights)
	total := l.Bias
	for _, x := range added {
		total += x
	}
	near(t, "sum", total, l.logOdds(v.vector(said)))
	if added[2] != 0 || added[1] <= added[0] {
		t.Errorf("added %v: \"me\" must add nothing, the pair must count at its second word", added)
	}
}

func TestSplitSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two!  Three?":             {"One.", "Two!", "Three?"},
		"\"Stop!\" he said... Then? ok": {"\"Stop!\"", "he said...", "Then?", "ok"},
		"3.5 is e.g. fine":              {"3.5 is e.g.", "fine"},
		"... ?! ":                       nil,
		"":                              nil,
		"Ça va… oui":                    {"Ça va…", "oui"},
		"bad \xff byte. end":            {"bad \xff byte.", "end"},
	} {
		if diff := cmp.Diff(want, splitSentences(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func FuzzSplitSentences(f *testing.F) {
	f.Add("\"Stop!\" he said... Then? ok")
	f.Add("\xff. …’ x")
	f.Fuzz(func(t *testing.T, text string) {
		var split []string
		for _, s := range splitSentences(text) {
			split = append(split, dialogue.Words(s)...)
		}
		whole := dialogue.Words(text)
		if strings.Join(split, "") != strings.Join(whole, "") {
			t.Errorf("words %q, want %q", split, whole)
		}
	})
}

func TestUtterances(t *testing.T) {
	got := utterances(recognize.Transcript{Words: []recognize.Word{
		{Text: "don't", Start: .1, End: .4}, {Text: "go", Start: .5, End: .7},
		{Text: "why", Start: .95, End: 1.2}, {Text: "not", Start: 1.2, End: 1.4},
	}})
	if len(got) != 2 || got[0].Quote != "don't go" || got[0].Start != .1 || got[0].End != .7 || got[1].Quote != "why not" || got[1].Start != .95 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]string{"dont", "go", "why", "not"}, words(got)); diff != "" {
		t.Error(diff)
	}
}

func TestPercentOf(t *testing.T) {
	// printf 'smm-split-v1:85514414' | sha256sum begins with the digits checked here.
	for id, want := range map[string]uint32{"85514414": 68, "t001": 26, "s001": 49} {
		if got := percentOf(id); got != want {
			t.Errorf("percentOf(%q) = %d, want %d", id, got, want)
		}
	}
}
