package score

import (
	"encoding/json"
	"math"
	"testing"
)

func TestFigureJSON(t *testing.T) {
	for _, test := range []struct {
		figure Figure
		want   string
		back   Figure
	}{
		{defined(0.25), `0.25`, defined(0.25)},
		{defined(0), `0`, defined(0)},
		{ratio(0, 0, "no clips"), `{"undefined":"no clips"}`, undefined("no clips")},
		{Figure{}, `{"undefined":"not computed"}`, undefined("not computed")},
		{defined(math.NaN()), `{"undefined":"not a finite number"}`, undefined("not a finite number")},
		{defined(math.Inf(1)), `{"undefined":"not a finite number"}`, undefined("not a finite number")},
	} {
		data, err := json.Marshal(test.figure)
		if err != nil || string(data) != test.want {
			t.Errorf("%+v is %s (%v), want %s", test.figure, data, err, test.want)
		}
		var back Figure
		if err := json.Unmarshal(data, &back); err != nil || back != test.back {
			t.Errorf("%s reads as %+v (%v)", data, back, err)
		}
	}
	for _, bad := range []string{`null`, `"0.5"`, `{}`, `[]`, `{"undefined":1}`} {
		var f Figure
		if err := json.Unmarshal([]byte(bad), &f); err == nil {
			t.Errorf("%s reads as %+v, want an error", bad, f)
		}
	}
}

func TestWilson(t *testing.T) {
	// 56 of 100 is the audio annotators' agreement with the label.
	for _, test := range []struct {
		hits, n          int
		value, low, high string
	}{
		{56, 100, ".560", ".462", ".653"},
		{87, 250, ".348", ".292", ".409"},
		{0, 10, ".000", ".000", ".278"},
		{10, 10, "1.000", ".722", "1.000"},
		{0, 0, "undefined: no items", "undefined: no items", "undefined: no items"},
	} {
		r := Wilson(test.hits, test.n)
		if round3(r.Value) != test.value || round3(r.Low) != test.low || round3(r.High) != test.high {
			t.Errorf("Wilson(%d, %d) = %s %s %s, want %s %s %s", test.hits, test.n,
				round3(r.Value), round3(r.Low), round3(r.High), test.value, test.low, test.high)
		}
	}
	for n := 1; n < 60; n++ {
		for hits := range n + 1 {
			r := Wilson(hits, n)
			if !(0 <= r.Low.Value && r.Low.Value <= r.Value.Value && r.Value.Value <= r.High.Value && r.High.Value <= 1) {
				t.Fatalf("Wilson(%d, %d) = %+v", hits, n, r)
			}
		}
	}
}
