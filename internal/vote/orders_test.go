package vote

import "testing"

func TestCombine(t *testing.T) {
	decide := func(letters string) Outcome { return Decide(passesOf(letters), Paper()) }
	for _, test := range []struct {
		name              string
		straight, swapped Outcome
		want              Outcome
	}{
		{"equal", decide("YYYNI"), decide("YYYYy"), Outcome{Verdict: Yes, Yes: 8, No: 1, Invalid: 1, Constrained: 8, Fallback: 1, Margin: 7}},
		{"opposite", decide("YYYNN"), decide("NNNNN"), Outcome{Verdict: Unresolved, Yes: 3, No: 7, Constrained: 10, Margin: 4}},
		{"one can't say", decide("YYYYY"), decide("IIIII"), Outcome{Verdict: Unresolved, Yes: 5, Invalid: 5, Constrained: 5, Margin: 5}},
		{"neither can", decide("YN"), decide("II"), Outcome{Verdict: Unresolved, Yes: 1, No: 1, Invalid: 2, Missing: 6, Constrained: 2}},
		{"analytic", Outcome{Verdict: No}, Outcome{Verdict: No}, Outcome{Verdict: No}},
	} {
		if got := Combine(test.straight, test.swapped); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		if a, b := Combine(test.straight, test.swapped), Combine(test.swapped, test.straight); a != b {
			t.Errorf("%s: %+v, exchanged %+v", test.name, a, b)
		}
	}
}
