package score

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func TestCount(t *testing.T) {
	items := []Item{
		{Truth: dialogue.Yes, Verdict: vote.Yes},
		{Truth: dialogue.Yes, Verdict: vote.Unresolved},
		{Truth: dialogue.Yes, Verdict: vote.Yes, Failed: true}, // a stale verdict doesn't count
		{Truth: dialogue.No, Verdict: vote.No},
		{Truth: dialogue.No}, // no verdict is a failure, not a NO
		{Truth: dialogue.Unknown, Verdict: vote.Yes},
	}
	want := Tally{N: 5, Confusion: Confusion{Yes: Verdicts{Yes: 1, Unresolved: 1}, No: Verdicts{No: 1}}, Failed: Failed{Yes: 1, No: 1}, Unlabelled: 1}
	if diff := cmp.Diff(want, Count(items)); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(Count(items).Confusion)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(data), `{"yes":{"yes":1,"no":0,"unresolved":1},"no":{"yes":0,"no":1,"unresolved":0}}`; got != want {
		t.Errorf("JSON %s, want %s", got, want)
	}
}

func TestClassifyBounds(t *testing.T) {
	c := Classify(Confusion{Yes: Verdicts{Yes: 3, No: 1, Unresolved: 2}, No: Verdicts{Yes: 1, No: 3, Unresolved: 1}}, Failed{Yes: 1, No: 0})
	if c.N != 12 || c.Decided != 8 || c.Unresolved != 3 || c.Failed != 1 {
		t.Errorf("n %d, decided %d, unresolved %d, failed %d", c.N, c.Decided, c.Unresolved, c.Failed)
	}
	for _, f := range []struct {
		name string
		got  Figure
		want float64
	}{
		{"decided accuracy", c.Accuracy, 6.0 / 8},
		{"worst accuracy", c.Worst.Accuracy, 6.0 / 12},
		{"best accuracy", c.Best.Accuracy, 10.0 / 12},
		{"worst recall", c.Worst.Yes.Recall, 3.0 / 7},
		{"best recall", c.Best.Yes.Recall, 6.0 / 7},
		{"worst precision", c.Worst.Yes.Precision, 3.0 / 5},
		{"best precision", c.Best.Yes.Precision, 6.0 / 7},
		{"worst specificity", c.Worst.No.Recall, 3.0 / 5},
		{"balanced accuracy", c.BalancedAccuracy, 0.75},
	} {
		if !f.got.Defined || math.Abs(f.got.Value-f.want) > 1e-12 {
			t.Errorf("%s = %+v, want %v", f.name, f.got, f.want)
		}
	}
}

func TestClassifyProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		n := func() int { return rng.IntN(6) }
		c := Confusion{Yes: Verdicts{n(), n(), n()}, No: Verdicts{n(), n(), n()}}
		failed := Failed{n(), n()}
		got := Classify(c, failed)

		actual := c
		for range c.Yes.Unresolved + failed.Yes {
			if rng.IntN(2) == 0 {
				actual.Yes.Yes++
			} else {
				actual.Yes.No++
			}
		}
		for range c.No.Unresolved + failed.No {
			if rng.IntN(2) == 0 {
				actual.No.Yes++
			} else {
				actual.No.No++
			}
		}
		low, middle, high := figures(got.Worst), figures(measure(actual)), figures(got.Best)
		for i := range middle {
			if low[i].Defined && middle[i].Defined && low[i].Value > middle[i].Value+1e-12 {
				t.Fatalf("%+v %+v: figure %d is %v, below the worst case %v", c, failed, i, middle[i].Value, low[i].Value)
			}
			if high[i].Defined && middle[i].Defined && high[i].Value < middle[i].Value-1e-12 {
				t.Fatalf("%+v %+v: figure %d is %v, above the best case %v", c, failed, i, middle[i].Value, high[i].Value)
			}
			if f := middle[i]; f.Defined == (f.Reason != "") {
				t.Fatalf("%+v: figure %d is %+v: a reason iff undefined", c, i, f)
			}
		}
		if _, err := json.Marshal(got); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
	}
}

func figures(m Metrics) []Figure {
	return []Figure{
		m.Yes.Precision, m.Yes.Recall, m.Yes.F1, m.No.Precision, m.No.Recall, m.No.F1,
		m.Macro.Recall, m.Macro.F1, m.Weighted.Recall, m.Weighted.F1, m.Accuracy, m.BalancedAccuracy,
	}
}

// itemsOf returns items with that confusion, each a dialogue of its own.
func itemsOf(c Confusion) []Item {
	var items []Item
	for truth, row := range map[dialogue.Truth]Verdicts{dialogue.Yes: c.Yes, dialogue.No: c.No} {
		for verdict, n := range map[vote.Verdict]int{vote.Yes: row.Yes, vote.No: row.No, vote.Unresolved: row.Unresolved} {
			items = append(items, slices.Repeat([]Item{{Truth: truth, Verdict: verdict}}, n)...)
		}
	}
	return items
}

func TestBaselines(t *testing.T) {
	// UNRESOLVED items are not decided, so no baseline is scored on them.
	b := Baselines(itemsOf(Confusion{Yes: Verdicts{Yes: 1, No: 2, Unresolved: 9}, No: Verdicts{Yes: 3, No: 2}}))
	if b[0].Confusion != (Confusion{Yes: Verdicts{Yes: 3}, No: Verdicts{Yes: 5}}) {
		t.Errorf("always-yes: %+v", b[0].Confusion)
	}
	if b[1].Verdict != vote.No || round3(b[1].Classification.Accuracy) != ".625" {
		t.Errorf("majority: %s, accuracy %s; want NO, .625", b[1].Verdict, round3(b[1].Classification.Accuracy))
	}
	if even := Baselines(itemsOf(Confusion{Yes: Verdicts{Yes: 1}, No: Verdicts{No: 1}})); even[1].Verdict != vote.Yes {
		t.Errorf("equal halves: majority says %s, want YES", even[1].Verdict)
	}
	if empty := Baselines(nil); empty[0].Classification.Accuracy.Defined {
		t.Error("no items: the accuracy must be undefined")
	}
}
