package score

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/speechmanip/speechmanip/internal/vote"
)

// verdictsOf reads Y, N and ? for UNRESOLVED.
func verdictsOf(letters string) []vote.Verdict {
	var out []vote.Verdict
	for _, letter := range letters {
		out = append(out, map[rune]vote.Verdict{'Y': vote.Yes, 'N': vote.No, '?': vote.Unresolved}[letter])
	}
	return out
}

func contrasts(pairs ...string) []Contrast {
	var out []Contrast
	for _, pair := range pairs {
		first, second, _ := strings.Cut(pair, "|")
		out = append(out, Contrast{verdictsOf(first), verdictsOf(second)})
	}
	return out
}

func TestCompareWithin(t *testing.T) {
	const none = "none"
	number := func(v float64) Figure { return Figure{Value: v, Defined: true} }
	because := func(reason string) Figure { return Figure{Reason: reason} }
	for _, test := range []struct {
		name  string
		pairs []string
		want  Within
	}{
		{"one rendition of each kind is McNemar's test", slices.Concat(slices.Repeat([]string{"Y|N"}, 6), slices.Repeat([]string{"N|Y"}, 2), []string{"Y|Y", "N|N", "N|N", "N|N"}), Within{
			N: 12, First: number(7.0 / 12), Second: number(3.0 / 12), Difference: number(1.0 / 3),
			// By hand: 1/3 -+ 2.200985*0.224733, the t of 11 degrees of freedom from a table;
			// 2*(1+8+28)/256.
			Low: number(-0.161301), High: number(0.827967),
			More: 6, Fewer: 2, P: number(0.2890625), Lowest: number(1.0 / 3), Highest: number(1.0 / 3),
		}},
		{"a dialogue counts once, by its shares", []string{"Y|YNNN", "NY|N", "N|NN"}, Within{
			N: 3, First: number(0.5), Second: number(0.25 / 3), Difference: number(1.25 / 3),
			Low: because("fewer than 10 dialogues"), High: because("fewer than 10 dialogues"),
			More: 2, P: number(0.5), Lowest: number(1.25 / 3), Highest: number(1.25 / 3),
		}},
		{"an interval ends where differences do", slices.Concat(slices.Repeat([]string{"Y|N"}, 10), []string{"N|Y"}), Within{
			N: 11, First: number(10.0 / 11), Second: number(1.0 / 11), Difference: number(9.0 / 11),
			// By hand: 9/11 - 2.228139*0.181818, the t of 10 degrees of freedom from a table;
			// 2*12/2048.
			Low: number(0.413066), High: number(1),
			More: 10, Fewer: 1, P: number(24.0 / 2048), Lowest: number(9.0 / 11), Highest: number(9.0 / 11),
		}},
		{"an open verdict leaves the dialogue out, and both bounds count it", []string{"Y|N", "?|N", "Y|?", "Y|Y?"}, Within{
			N: 1, First: number(1), Second: number(0), Difference: number(1),
			Low: because("fewer than 10 dialogues"), High: because("fewer than 10 dialogues"),
			More: 1, P: number(1), Open: 3,
			Lowest: number((1 + 0 + 0 + 0) / 4.0), Highest: number((1 + 1 + 1 + 0.5) / 4),
		}},
		{"what has one kind alone counts nowhere", []string{"Y|", "|N", "|"}, Within{
			First: because(none), Second: because(none), Difference: because(none), Low: because(none), High: because(none),
			P: because(none), Lowest: because(none), Highest: because(none),
		}},
		{"nothing differs", slices.Repeat([]string{"Y|Y", "N|N"}, 5), Within{
			N: 10, First: number(0.5), Second: number(0.5), Difference: number(0),
			Low: because("it is the same in every dialogue"), High: because("it is the same in every dialogue"),
			P: because("nothing differs between the conditions"), Lowest: number(0), Highest: number(0),
		}},
		{"all are open", []string{"?|N"}, Within{
			First: because("no dialogue is decided in all its castings"), Second: because("no dialogue is decided in all its castings"),
			Difference: because("no dialogue is decided in all its castings"), Low: because("no dialogue is decided in all its castings"),
			High: because("no dialogue is decided in all its castings"), P: because("no dialogue is decided in all its castings"),
			Open: 1, Lowest: number(0), Highest: number(1),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := CompareWithin(contrasts(test.pairs...), none)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 2e-6)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMeasureSteadiness(t *testing.T) {
	for _, test := range []struct {
		name      string
		dialogues []string
		n, open   int
		depends   int
		lowest    float64
		highest   float64
		flips     float64
	}{
		{"two castings", []string{"YY", "YN", "NN", "NY"}, 4, 0, 2, 0.5, 0.5, 0.5},
		{"three castings: two of three pairs differ, or none", []string{"YYN", "NNN"}, 2, 0, 1, 0.5, 0.5, 1.0 / 3},
		{"an open verdict may be either", []string{"YY", "Y?", "??", "YN?"}, 1, 3, 0, 0.25, 0.75, 0},
		{"one casting says nothing", []string{"Y", ""}, 0, 0, 0, math.NaN(), math.NaN(), math.NaN()},
	} {
		t.Run(test.name, func(t *testing.T) {
			var dialogues [][]vote.Verdict
			for _, letters := range test.dialogues {
				dialogues = append(dialogues, verdictsOf(letters))
			}
			s := MeasureSteadiness(dialogues)
			if s.N != test.n || s.Open != test.open || s.Depends.Hits != test.depends {
				t.Errorf("n %d, open %d, depends %d, want %d, %d, %d", s.N, s.Open, s.Depends.Hits, test.n, test.open, test.depends)
			}
			for name, pair := range map[string][2]any{"lowest": {s.Lowest, test.lowest}, "highest": {s.Highest, test.highest}, "flips": {s.Flips, test.flips}} {
				got, want := pair[0].(Figure), pair[1].(float64)
				if got.Defined == math.IsNaN(want) || got.Defined && math.Abs(got.Value-want) > 1e-12 {
					t.Errorf("%s is %v, want %v", name, got, want)
				}
			}
		})
	}
}
