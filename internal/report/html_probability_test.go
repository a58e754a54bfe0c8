package report

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// asked is an item with one pass a probability.
func asked(truth dialogue.Truth, method vote.Method, p ...float64) judgedItem {
	d := Dialogue{Record: evaluation.Record{Truth: truth}}
	for i, p := range p {
		d.Passes = append(d.Passes, evaluation.PassRecord{
			Pass: vote.Pass{Index: i, Method: method},
			PYes: vote.Mass{P: vote.Nano(math.Round(p * float64(vote.One))), Observed: true},
		})
	}
	return judgedItem{d, d.Judgement}
}

func TestReliability(t *testing.T) {
	unseen := asked(dialogue.Yes, vote.Constrained, 0.5)
	unseen.Passes[0].PYes.Observed = false
	r := measureReliability([]judgedItem{
		asked(dialogue.Yes, vote.Constrained, 0.8, 1), // mean 0.9
		asked(dialogue.No, vote.Constrained, 0.2),
		asked(dialogue.No, vote.Constrained, 0.6),
		asked(dialogue.Yes, vote.Fallback, 0.9),
		asked(dialogue.Yes, vote.Constrained), // no pass
		unseen,
	}, "ab")
	if r.N != 3 || r.Others != 3 {
		t.Errorf("n = %d and %d others, want 3 and 3", r.N, r.Others)
	}
	if want := (0.01 + 0.04 + 0.36) / 3; math.Abs(r.Brier.Value.Value-want) > 1e-9 {
		t.Errorf("Brier %g, want %g", r.Brier.Value.Value, want)
	}
	if len(r.Bins) != 1 || r.Bins[0].Yes.Hits != 1 || r.Bins[0].Yes.N != 3 || math.Abs(r.Bins[0].Mean-17./30) > 1e-9 {
		t.Errorf("bins %+v, want one of the three", r.Bins)
	}
	if empty := measureReliability(nil, "ba"); len(empty.Bins) != 0 || empty.Brier.Value.Defined || empty.Letter != "B" {
		t.Errorf("of nothing: %+v", empty)
	}
}

func TestEqualParts(t *testing.T) {
	for _, test := range []struct {
		p    []float64
		n    int
		want []int
	}{
		{[]float64{1, 2, 3, 4, 5, 6}, 3, []int{2, 2, 2}},
		{[]float64{1, 2, 3, 4, 5}, 2, []int{2, 3}},
		{[]float64{1, 1, 1, 1, 2}, 2, []int{4, 1}}, // equal ones stay together
		{[]float64{1, 1, 1}, 3, []int{3}},
		{[]float64{1}, 1, []int{1}},
		{nil, 1, nil},
	} {
		var sorted []score.Scored
		for _, p := range test.p {
			sorted = append(sorted, score.Scored{P: p})
		}
		var got []int
		for _, part := range equalParts(sorted, test.n) {
			got = append(got, len(part))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v in %d parts: %v, want %v", test.p, test.n, got, test.want)
		}
	}
}

func TestHistogram(t *testing.T) {
	h := newHistogram("", []judgedItem{
		asked(dialogue.Yes, vote.Constrained, 1), asked(dialogue.Yes, vote.Fallback, 0.97), asked(dialogue.No, vote.Constrained, 0),
		asked(dialogue.No, vote.Constrained, 0.5), asked(dialogue.No, vote.Constrained),
	})
	if h.N != 4 || h.Unobserved != 1 {
		t.Errorf("n = %d, %d not observed; want 4, 1", h.N, h.Unobserved)
	}
	if first, middle, last := h.Bins[0], h.Bins[10], h.Bins[19]; first.No != 1 || middle.No != 1 || middle.Range != "0.50 to 0.55" || last.Yes != 2 || last.YesTall != histogramTall {
		t.Errorf("bins %+v, %+v, %+v", first, middle, last)
	}
}

func TestLengths(t *testing.T) {
	var dialogues []Dialogue
	for _, seconds := range []float64{10, 20, 30, 40, 50, 60, 0} {
		d := asked(dialogue.Yes, vote.Constrained, 1).Dialogue
		d.ClipSeconds, d.Verdict.Verdict = seconds, vote.Yes
		dialogues = append(dialogues, d)
	}
	var got []string
	for _, row := range group(dialogues, first, lengths(dialogues)) {
		got = append(got, fmt.Sprintf("%s: %d", row.Name, row.N))
	}
	if want := []string{"1: up to 20.0 s: 2", "2: above 20.0 s, up to 40.0 s: 2", "3: above 40.0 s: 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMarkQuote(t *testing.T) {
	for _, test := range []struct{ text, quote, want string }{
		{"You owe me.", "you OWE", "|You owe| me."},
		{"İstanbul is far", "FAR", "İstanbul is |far|"}, // its lower case is longer
		{"no", "nothing", "no||"},
		{"anything", "", "anything||"},
		{"", "x", "||"},
	} {
		before, marked, after := markQuote(test.text, test.quote)
		if got := before + "|" + marked + "|" + after; got != test.want {
			t.Errorf("%q in %q: %q, want %q", test.quote, test.text, got, test.want)
		}
	}
}

func FuzzMarkQuote(f *testing.F) {
	f.Add("You owe me.", "owe")
	f.Add("\xff\u0130", "\u0130")
	f.Fuzz(func(t *testing.T, text, quote string) {
		before, marked, after := markQuote(text, quote)
		if got := before + marked + after; got != text && string([]rune(text)) != got {
			t.Errorf("%q is put together as %q", text, got)
		}
	})
}
