package agreement_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/agreement"
)

// rows makes a row of each word: a digit is a category, a dot no vote.
func rows(words ...string) []agreement.Row {
	var rows []agreement.Row
	for _, word := range words {
		var row agreement.Row
		for _, c := range word {
			if c == '.' {
				row = append(row, agreement.Missing)
			} else {
				row = append(row, agreement.Category(c-'0'))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// transpose turns columns (a word an annotator) into rows.
func transpose(columns ...string) []agreement.Row {
	words := make([]string, len(columns[0]))
	for _, column := range columns {
		for i, c := range column {
			words[i] += string(c)
		}
	}
	return rows(words...)
}

var none agreement.Bootstrap

func requireNear(t *testing.T, got agreement.Coefficient, want float64, items int, tolerance float64) {
	t.Helper()
	if !got.Defined() || math.Abs(got.Value-want) > tolerance || got.Items != items {
		t.Errorf("got %v (%q) on %d items, want %v on %d", got.Value, got.Undefined, got.Items, want, items)
	}
}

// counted makes a row with so many votes of each category.
func counted(counts ...int) agreement.Row {
	var row agreement.Row
	for c, n := range counts {
		for range n {
			row = append(row, agreement.Category(c))
		}
	}
	return row
}

func repeat(n int, word string) []string { return slices.Repeat([]string{word}, n) }

// The examples that the literature computes by hand.
func TestPublishedExamples(t *testing.T) {
	// Krippendorff 2011, part C: 12 units, four observers, nominal alpha 0.743.
	krippendorff := transpose("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
	requireNear(t, agreement.Krippendorff(krippendorff, none), 0.743, 11, 0.0005)

	// Fleiss' kappa's usual example: 14 raters, 10 subjects, 5 categories, 0.210.
	fleiss := []agreement.Row{
		counted(0, 0, 0, 0, 14), counted(0, 2, 6, 4, 2), counted(0, 0, 3, 5, 6), counted(0, 3, 9, 2, 0), counted(2, 2, 8, 1, 1),
		counted(7, 7, 0, 0, 0), counted(3, 2, 6, 3, 0), counted(2, 5, 3, 2, 2), counted(6, 5, 2, 1, 0), counted(0, 2, 2, 3, 7),
	}
	requireNear(t, agreement.Fleiss(fleiss, 14, none), 0.210, 10, 0.0005)

	// Cohen's: 50 grant proposals, 20 both yes, 15 both no, 0.4.
	cohen := rows(slices.Concat(repeat(20, "11"), repeat(5, "10"), repeat(10, "01"), repeat(15, "00"))...)
	requireNear(t, agreement.Cohen(cohen, 0, 1, none), 0.4, 50, 1e-12)
	if got := agreement.PercentAgreement(cohen, none); got.Agreeing != 35 || got.Pairs != 50 || got.Value != 0.7 {
		t.Errorf("percent agreement = %+v, want 35 of 50", got)
	}

	// McNemar, exact: 2 (1+5+10) / 2^5 would exceed 1; 1 of 10 is 2 (1+10) / 2^10.
	requireNear(t, agreement.Paired{OnlyFirst: 3, OnlySecond: 2}.McNemar(), 1, 5, 1e-12)
	requireNear(t, agreement.Paired{Both: 7, OnlyFirst: 1, OnlySecond: 9}.McNemar(), 22.0/1024, 10, 1e-12)
}

func TestUndefined(t *testing.T) {
	same := rows("11", "11")
	for name, c := range map[string]struct {
		got  agreement.Coefficient
		want string
	}{
		"alpha of nothing":        {agreement.Krippendorff(nil, none), "no item has two votes"},
		"alpha of single votes":   {agreement.Krippendorff(rows("1.", ".0"), none), "no item has two votes"},
		"alpha of one category":   {agreement.Krippendorff(same, none), "all votes are the same"},
		"percent of single votes": {agreement.PercentAgreement(rows("1."), none).Coefficient, "no item has two votes"},
		"Fleiss of one annotator": {agreement.Fleiss(rows("1", "0"), 1, none), "two annotators"},
		"Fleiss with gaps":        {agreement.Fleiss(rows("1.", ".0"), 2, none), "every annotator"},
		"Fleiss of one category":  {agreement.Fleiss(same, 2, none), "all votes are the same"},
		"Cohen of nothing common": {agreement.Cohen(rows("1.", ".0"), 0, 1, none), "both"},
		"Cohen of one category":   {agreement.Cohen(same, 0, 1, none), "all votes are the same"},
		"Cohen of no column":      {agreement.Cohen(same, 0, 7, none), "both"},
		"McNemar of nothing":      {agreement.Paired{}.McNemar(), "nothing was judged"},
		"McNemar of no change":    {agreement.Paired{Both: 3, Neither: 2}.McNemar(), "nothing differs"},
		"difference of items":     {agreement.AlphaDifference(rows("11", "1."), rows("11", "10"), none), "two votes or more under one condition only: 1"},
		"difference of people":    {agreement.AlphaDifference(rows("11."), rows("1.1"), none), "annotators are not the same (on so many items: 1)"},
		"difference of lengths":   {agreement.AlphaDifference(rows("11"), nil, none), "items are not the same"},
		"difference, second flat": {agreement.AlphaDifference(rows("10", "11"), same, none), "second: all votes are the same"},
	} {
		if !strings.Contains(c.got.Undefined, c.want) || c.want == "" || c.got.Value != 0 {
			t.Errorf("%s: value %v, undefined %q, want 0 and %q", name, c.got.Value, c.got.Undefined, c.want)
		}
	}
	// One annotator who always says the same is no such case: kappa is 0.
	requireNear(t, agreement.Cohen(rows("11", "10"), 0, 1, none), 0, 2, 1e-12)
}

// Items of which one vote is left, and items' order, change nothing.
func TestAlphaIgnoresSingleVotes(t *testing.T) {
	base := rows("110.", "1.11", "0000", "..01")
	more := rows("..01", "1...", "0000", "110.", "....", "...0", "1.11")
	a, b := agreement.Krippendorff(base, none), agreement.Krippendorff(more, none)
	if a.Items != 4 || b.Items != 4 || math.Abs(a.Value-b.Value) > 1e-12 {
		t.Errorf("alpha %v on %d and %v on %d items, want the same on 4", a.Value, a.Items, b.Value, b.Items)
	}
}

func TestInterval(t *testing.T) {
	votes := rows(slices.Concat(repeat(8, "11"), repeat(3, "10"), repeat(1, "01"), repeat(8, "00"))...)
	bootstrap := agreement.Bootstrap{Draws: 2000, Seed: 7}
	first := agreement.Krippendorff(votes, bootstrap)
	if diff := cmp.Diff(first, agreement.Krippendorff(votes, bootstrap)); diff != "" {
		t.Errorf("the same seed gives another interval:\n%s", diff)
	}
	bootstrap.Seed = 8
	if other := agreement.Krippendorff(votes, bootstrap); other.Interval == first.Interval || other.Value != first.Value {
		t.Errorf("another seed: %+v after %+v, want the same value and another interval", other, first)
	}
	// Percent agreement of equal pairs is a mean of 20 coins at 0.8: the binomial's
	// 2.5% and 97.5% quantiles are 12 and 19 of 20.
	percent := agreement.PercentAgreement(votes, bootstrap).Interval
	if percent.Low != 0.6 || percent.High != 0.95 || percent.Draws != 2000 || percent.Undefined != 0 {
		t.Errorf("percent agreement's interval = %+v, want 0.6 to 0.95", percent)
	}

	if got := agreement.Krippendorff(votes[:19], bootstrap).Interval; got.None != "fewer than 20 items" {
		t.Errorf("19 items: interval %+v, want none", got)
	}
	// Single votes are no items of the interval: 19 items stay 19.
	if got := agreement.Krippendorff(append(votes[:19:19], rows("1.", ".1")...), bootstrap).Interval; got.None != "fewer than 20 items" {
		t.Errorf("19 items and single votes: interval %+v, want none", got)
	}
	// 19 of 20 items alike: a third of the draws has one category only (.95^20 = .36).
	flat := agreement.Krippendorff(rows(append(repeat(19, "11"), "10")...), bootstrap)
	if share := float64(flat.Interval.Undefined) / 2000; share < 0.3 || share > 0.42 || flat.Interval.None != "" {
		t.Errorf("interval of votes that hardly differ = %+v, want about 36%% of the draws undefined", flat.Interval)
	}
}

func TestAlphaDifference(t *testing.T) {
	first := rows(slices.Concat(repeat(10, "11."), repeat(10, "00."), repeat(1, "1.."))...)
	second := rows(slices.Concat(repeat(10, "10."), repeat(10, "00."), repeat(1, "..0"))...)
	got := agreement.AlphaDifference(first, second, agreement.Bootstrap{Draws: 500, Seed: 1})
	want := 1 - agreement.Krippendorff(second, none).Value
	requireNear(t, got, want, 20, 1e-12)
	if got.Interval.None != "" || got.Interval.Low > want || got.Interval.High < want {
		t.Errorf("interval %+v does not hold %v", got.Interval, want)
	}
}

// FuzzNeverNaN: whatever the votes are, a coefficient is a number in its range or
// says why there is none.
func FuzzNeverNaN(f *testing.F) {
	f.Add([]byte{1, 1, 0, 255, 1, 0}, uint8(2))
	f.Add([]byte{127, 127, 0, 3}, uint8(2))
	f.Add([]byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, cells []byte, width uint8) {
		columns := max(1, int(width%9))
		var votes []agreement.Row
		for chunk := range slices.Chunk(cells, columns) {
			row := agreement.Row{}
			for _, cell := range chunk {
				row = append(row, agreement.Category(cell))
			}
			votes = append(votes, row)
		}
		bootstrap := agreement.Bootstrap{Draws: 20, Seed: 1}
		for name, c := range map[string]agreement.Coefficient{
			"alpha":   agreement.Krippendorff(votes, bootstrap),
			"Fleiss":  agreement.Fleiss(votes, columns, bootstrap),
			"Cohen":   agreement.Cohen(votes, 0, columns-1, bootstrap),
			"percent": agreement.PercentAgreement(votes, bootstrap).Coefficient,
		} {
			for _, v := range []float64{c.Value, c.Interval.Low, c.Interval.High} {
				if math.IsNaN(v) || v > 1+1e-9 || v < -1.0000001*float64(len(cells)+1) {
					t.Errorf("%s = %+v", name, c)
				}
			}
		}
	})
}
