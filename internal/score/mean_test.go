package score

import (
	"math"
	"testing"
)

// Tables of Student's t, two-sided 5%; NIST/SEMATECH e-Handbook, 1.3.6.7.2.
func TestT95(t *testing.T) {
	for df, want := range map[int]float64{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 10: 2.228, 30: 2.042, 31: 2.040, 100: 1.984, 100_000: 1.960} {
		if got := t95(df); math.Abs(got-want) > 5e-4 {
			t.Errorf("%d degrees of freedom: %.4f, want %.3f", df, got, want)
		}
	}
}

func TestMeanOf(t *testing.T) {
	// R's data set sleep (Student, 1908): t.test(extra ~ group, paired = TRUE).
	first := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	second := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	differences := make([]float64, len(first))
	for i := range first {
		differences[i] = first[i] - second[i]
	}
	m := MeanOf(differences)
	for name, pair := range map[string][2]float64{
		"mean": {m.Value.Value, -1.58}, "low": {m.Low.Value, -2.4598858}, "high": {m.High.Value, -0.7001142},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-7 {
			t.Errorf("%s is %.7f, R has %.7f", name, pair[0], pair[1])
		}
	}

	if none := MeanOf(nil); none.Value.Defined || none.Low.Defined || none.High.Defined {
		t.Errorf("of no values: %+v", none)
	}
	if one := MeanOf([]float64{0.5}); one.Value != defined(0.5) || one.Low.Defined || one.High.Defined {
		t.Errorf("of one value: %+v", one)
	}
	if same := MeanOf([]float64{0.5, 0.5}); same.Low != defined(0.5) || same.High != defined(0.5) {
		t.Errorf("of two equal values: %+v", same)
	}
}
