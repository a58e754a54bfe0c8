package vote

import (
	"math"
	"slices"
	"testing"
)

// settledRules are the presets and rules with other numbers, all that stop early.
func settledRules() []Rules {
	with := func(r Rules, passes, quorum int) Rules {
		r.Passes, r.Quorum, r.Votes = passes, quorum, VotesEarlyStop
		return r
	}
	return []Rules{
		with(Paper(), 5, 3), with(Paper(), 5, 4), with(Paper(), 4, 3), with(Paper(), 1, 1),
		with(Released(), 5, 3), with(Released(), 4, 3), with(Released(), 1, 1),
	}
}

// patterns returns every way to answer n passes.
func patterns(n int) []string {
	out := make([]string, 0, int(math.Pow(3, float64(n))))
	out = append(out, "")
	for range n {
		var longer []string
		for _, p := range out {
			longer = append(longer, p+"Y", p+"N", p+"I")
		}
		out = longer
	}
	return out
}

// Settled is true exactly where every completion has one verdict.
func TestSettledProperty(t *testing.T) {
	for _, r := range settledRules() {
		for n := range r.Passes + 1 {
			for _, begun := range patterns(n) {
				verdicts := map[Verdict]bool{}
				for _, rest := range patterns(r.Passes - n) {
					verdicts[Decide(passesOf(begun+rest), r).Verdict] = true
				}
				got := Settled(passesOf(begun), r)
				if want := len(verdicts) == 1; got != want {
					t.Fatalf("%s of %d, quorum %d: %q is settled %v, want %v", r.Label, r.Passes, r.Quorum, begun, got, want)
				}
				if now := Decide(passesOf(begun), r).Verdict; got && !verdicts[now] {
					t.Fatalf("%s of %d: %q is %s now, but ends as %v", r.Label, r.Passes, begun, now, verdicts)
				}
			}
		}
	}
}

// Passes made in the order of Next give the verdict of all passes, with no more
// than all of them, and none twice.
func TestNextStopsEarly(t *testing.T) {
	calls := map[int]int{}
	for _, r := range settledRules() {
		for _, all := range patterns(r.Passes) {
			full := passesOf(all)
			var made []Pass
			for next := Next(nil, r); len(next) > 0; next = Next(made, r) {
				for _, i := range next {
					if slices.ContainsFunc(made, func(p Pass) bool { return p.Index == i }) {
						t.Fatalf("%q: pass %d is asked for twice", all, i)
					}
					made = append(made, full[i])
				}
			}
			if got, want := Decide(made, r).Verdict, Decide(full, r).Verdict; got != want {
				t.Fatalf("%s of %d, quorum %d: %q stopped after %d is %s, in full %s", r.Label, r.Passes, r.Quorum, all, len(made), got, want)
			}
			if r.Passes == 5 && r.Label == LabelQuorum && r.Quorum == 3 {
				calls[len(made)]++
			}
		}
	}
	if len(calls) != 3 || calls[3] == 0 || calls[4] == 0 || calls[5] == 0 {
		t.Errorf("the paper's rules stop after %v passes, want after 3, 4 and 5", calls)
	}
}

func TestNext(t *testing.T) {
	early := Paper()
	early.Votes = VotesEarlyStop
	for _, test := range []struct {
		name string
		made []Pass
		r    Rules
		want []int
	}{
		{"sampled, all at once", nil, Paper(), []int{0, 1, 2, 3, 4}},
		{"sampled, what is missing", []Pass{{Index: 3}, {Index: 1}}, Paper(), []int{0, 2, 4}},
		{"sampled, although settled", passesOf("YYY"), Paper(), []int{3, 4}},
		{"early stop, three together", nil, early, []int{0, 1, 2}},
		{"early stop, decided", passesOf("YYY"), early, nil},
		{"early stop, the fourth alone", passesOf("YNY"), early, []int{3}},
		{"early stop, the fifth alone", passesOf("YNYN"), early, []int{4}},
		{"early stop, nothing can come of it", passesOf("III"), early, nil},
		{"early stop, unknown indices", []Pass{{Index: 7, Vote: VoteYes}}, early, []int{0, 1, 2}},
	} {
		if got := Next(test.made, test.r); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
