package vote

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

func seen(p float64) Mass   { return Mass{P: Nano(math.Round(p * 1e9)), Observed: true} }
func unseen(p float64) Mass { return Mass{P: Nano(math.Round(p * 1e9))} }

// masses returns the options' masses; what p doesn't name is observed at 0.
func masses(p map[tactic.Tactic]float64) []Mass {
	out := make([]Mass, len(tactic.Options()))
	for i, option := range tactic.Options() {
		out[i] = seen(p[option])
	}
	return out
}

// passesOf reads one letter a pass: Y, N or I; lower case is by the fallback.
func passesOf(letters string) []Pass {
	var passes []Pass
	for i, letter := range letters {
		p := Pass{Index: i, Vote: VoteInvalid, Method: Failed}
		switch letter {
		case 'Y':
			p.Vote, p.Method = VoteYes, Constrained
		case 'N':
			p.Vote, p.Method = VoteNo, Constrained
		case 'y':
			p.Vote, p.Method = VoteYes, Fallback
		case 'n':
			p.Vote, p.Method = VoteNo, Fallback
		}
		passes = append(passes, p)
	}
	return passes
}

func TestDecideCounts(t *testing.T) {
	got := Decide(passesOf("YynI"), Paper())
	want := Outcome{Verdict: Unresolved, Yes: 2, No: 1, Invalid: 1, Missing: 1, Constrained: 1, Fallback: 2, Margin: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecideRepeatedPasses(t *testing.T) {
	yes := Pass{Index: 0, Vote: VoteYes, Method: Constrained}
	no := Pass{Index: 0, Vote: VoteNo, Method: Constrained}
	if got := Decide([]Pass{yes, yes, yes}, Paper()); got.Yes != 1 || got.Verdict != Unresolved {
		t.Errorf("one pass three times: %+v, want one YES that decides nothing", got)
	}
	for _, order := range [][]Pass{{yes, no}, {no, yes}, {yes, no, yes}, {no, no, yes}} {
		if got := Decide(order, Paper()); got.Invalid != 1 || got.Yes+got.No != 0 {
			t.Errorf("one pass with two answers: %+v, want it INVALID", got)
		}
	}
	outside := []Pass{{Index: -1, Vote: VoteYes}, {Index: 5, Vote: VoteYes}}
	if got := Decide(outside, Paper()); got.Ignored != 2 || got.Yes != 0 {
		t.Errorf("unknown indices: %+v, want them ignored", got)
	}
	if got := Decide([]Pass{{Index: 0, Vote: "MAYBE"}, {Index: 1}}, Paper()); got.Invalid != 2 {
		t.Errorf("unknown votes: %+v, want them INVALID", got)
	}
}

// Every vote pattern of up to five passes: order doesn't matter, the counts add
// up, and the verdict is the mirror image of that of the mirrored votes.
func TestDecideProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	mirror := map[rune]rune{'Y': 'N', 'N': 'Y', 'y': 'n', 'n': 'y', 'I': 'I'}
	for n := range 6 {
		for code := range int(math.Pow(5, float64(n))) {
			letters, mirrored := make([]rune, n), make([]rune, n)
			for i, c := 0, code; i < n; i, c = i+1, c/5 {
				letters[i] = []rune("YNynI")[c%5]
				mirrored[i] = mirror[letters[i]]
			}
			for _, r := range []Rules{Paper(), Released()} {
				passes := passesOf(string(letters))
				got := Decide(passes, r)
				rng.Shuffle(len(passes), func(i, j int) { passes[i], passes[j] = passes[j], passes[i] })
				if again := Decide(passes, r); again != got {
					t.Fatalf("%s %s: %+v, shuffled %+v", r.Name, string(letters), got, again)
				}
				if got.Yes+got.No+got.Invalid+got.Missing != r.Passes || got.Constrained+got.Fallback != got.Yes+got.No {
					t.Fatalf("%s %s: counts don't add up: %+v", r.Name, string(letters), got)
				}
				opposite := map[Verdict]Verdict{Yes: No, No: Yes, Unresolved: Unresolved}[got.Verdict]
				if m := Decide(passesOf(string(mirrored)), r).Verdict; r.Label == LabelQuorum && m != opposite {
					t.Fatalf("%s: %s but mirrored %s", string(letters), got.Verdict, m)
				}
			}
		}
	}
}

func TestDraw(t *testing.T) {
	sampling := Paper().Sampling
	m := []Mass{seen(0.45), unseen(0.9), seen(0.55), seen(0.001)}
	counts := make([]int, len(m))
	const draws = 20000
	for seed := range int64(draws) {
		i, err := Draw(m, sampling, seed)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := Draw(m, sampling, seed); again != i {
			t.Fatalf("seed %d draws %d, then %d", seed, i, again)
		}
		counts[i]++
	}
	// .55^(1/.6) against .45^(1/.6), by hand: .58285. Five standard errors.
	if share := float64(counts[2]) / draws; math.Abs(share-0.58285) > 0.0175 {
		t.Errorf("the most probable option is drawn %.4f of the time, want .5829", share)
	}
	if counts[1] != 0 || counts[3] != 0 {
		t.Errorf("drawn %v: unobserved options and those outside top-p must not be", counts)
	}
	// Neighbouring seeds must not agree more often than chance: .5137.
	agree, previous := 0, -1
	for seed := range int64(draws) {
		i, _ := Draw(m, sampling, seed)
		if i == previous {
			agree++
		}
		previous = i
	}
	if share := float64(agree) / draws; math.Abs(share-0.5137) > 0.0175 {
		t.Errorf("neighbouring seeds agree %.4f of the time, want .5137", share)
	}

	greedy := Released().Sampling
	if i, err := Draw([]Mass{seen(0.2), seen(0.4), seen(0.4)}, greedy, 7); i != 1 || err != nil {
		t.Errorf("greedy: %d, %v; want the first of the most probable", i, err)
	}
	if i, err := Draw([]Mass{seen(0.94), seen(0.06)}, Sampling{Temperature: 1, TopP: 0.5}, 7); i != 0 || err != nil {
		t.Errorf("top-p .5: %d, %v", i, err)
	}
	if _, err := Draw([]Mass{unseen(0.5), seen(0)}, sampling, 1); err == nil {
		t.Error("nothing to draw from: want an error")
	}
	if _, err := Draw(m, Sampling{Temperature: -1, TopP: 1}, 1); err == nil {
		t.Error("negative temperature: want an error")
	}
}

func TestTacticMargin(t *testing.T) {
	p := func(top, second tactic.Tactic, a, b float64) []Mass {
		return masses(map[tactic.Tactic]float64{top: a, second: b})
	}
	tests := []struct {
		name   string
		masses []Mass
		want   tactic.Tactic
	}{
		{"clear lead", p(tactic.Denial, tactic.Shaming, 0.5, 0.2), tactic.Denial},
		{"lead of exactly the margin", p(tactic.Denial, tactic.Shaming, 0.23, 0.20), tactic.Denial},
		{"thin lead", p(tactic.Denial, tactic.Shaming, 0.229, 0.20), tactic.Shaming},
		{"thin lead over none", p(tactic.Denial, tactic.None, 0.21, 0.20), tactic.None},
		{"none leads", p(tactic.None, tactic.Denial, 0.9, 0.05), tactic.Denial},
		{"no mass for any", masses(nil), tactic.Anger}, // all tie: the second in the inventory
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := DecideTactic(ScoredPasses(test.masses, Paper()), Paper())
			if out.Tactic != test.want || out.Unsure != 0 || out.Votes != 5 {
				t.Errorf("%+v, want %s by five sure passes", out, test.want)
			}
		})
	}
}

func TestTacticUnobserved(t *testing.T) {
	with := func(rest Mass, p map[tactic.Tactic]float64) []Mass {
		out := make([]Mass, len(tactic.Options()))
		for i, option := range tactic.Options() {
			out[i] = rest
			if v, ok := p[option]; ok {
				out[i] = seen(v)
			}
		}
		return out
	}
	two := map[tactic.Tactic]float64{tactic.Denial: 0.5, tactic.Shaming: 0.2}
	thin := map[tactic.Tactic]float64{tactic.Denial: 0.21, tactic.Shaming: 0.2}
	tests := []struct {
		name   string
		masses []Mass
		want   tactic.Tactic
		unsure bool
	}{
		{"too small to matter", with(unseen(0.01), two), tactic.Denial, false},
		{"may be within the margin", with(unseen(0.48), two), tactic.Denial, true},
		{"may be the second", with(unseen(0.2), thin), tactic.Shaming, true},
		{"can't be the second", with(unseen(0.19), thin), tactic.Shaming, false},
		{"no bound known", with(Mass{}, two), tactic.Denial, true},
		{"only the top observed, far ahead", with(unseen(0.1), map[tactic.Tactic]float64{tactic.Denial: 0.5}), tactic.Denial, false},
		{"the second-best is unknown", with(unseen(0.1), map[tactic.Tactic]float64{tactic.None: 0.5}), "", true},
		{"nothing observed", with(unseen(0.1), nil), "", false},
		{"too few options", make([]Mass, 3), "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := DecideTactic(ScoredPasses(test.masses, Paper()), Paper())
			if out.Tactic != test.want || (out.Unsure == 5) != test.unsure {
				t.Errorf("%q, unsure %d of 5; want %q, unsure %v", out.Tactic, out.Unsure, test.want, test.unsure)
			}
			if (out.Tactic == "") != (out.Invalid == 5) {
				t.Errorf("%q with %d invalid passes", out.Tactic, out.Invalid)
			}
		})
	}
}

func TestTacticRepeatedPasses(t *testing.T) {
	m := masses(map[tactic.Tactic]float64{tactic.Denial: 0.5})
	other := masses(map[tactic.Tactic]float64{tactic.Shaming: 0.5})
	out := DecideTactic([]TacticPass{{Index: 0, Masses: m}, {Index: 0, Masses: m}, {Index: 9, Masses: m}}, Paper())
	if out.Votes != 1 || out.Ignored != 1 || out.Missing != 4 || out.Tactic != tactic.Denial {
		t.Errorf("repeated: %+v", out)
	}
	out = DecideTactic([]TacticPass{{Index: 0, Masses: m}, {Index: 0, Masses: other}}, Paper())
	if out.Tactic != "" || out.Invalid != 1 {
		t.Errorf("contradicting: %+v, want it invalid", out)
	}
	if out = DecideTactic(nil, Paper()); out.Tactic != "" || out.Missing != 5 {
		t.Errorf("no passes: %+v", out)
	}
	sample := Paper()
	sample.TacticDraw = DrawSample
	if out = DecideTactic(ScoredPasses(m, sample), sample); out.Invalid != 5 {
		t.Errorf("nothing drawn: %+v, want five invalid passes", out)
	}
}

func TestTacticProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sample := Paper()
	sample.Name, sample.TacticDraw = "sample", DrawSample
	for range 3000 {
		passes := make([]TacticPass, rng.IntN(6))
		for i := range passes {
			m := make([]Mass, len(tactic.Options()))
			for k := range m { // few values, so that there are many ties
				m[k] = Mass{P: Nano(rng.IntN(4)) * 20_000_000, Observed: rng.IntN(8) > 0}
			}
			passes[i] = TacticPass{Index: i, Masses: m, Drawn: tactic.Options()[rng.IntN(12)]}
		}
		for _, r := range []Rules{Paper(), Released(), sample} {
			got := DecideTactic(passes, r)
			shuffled := slices.Clone(passes)
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if diff := cmp.Diff(got, DecideTactic(shuffled, r)); diff != "" {
				t.Fatalf("%s: order matters:\n%s", r.Name, diff)
			}
			votes := map[tactic.Tactic]int{}
			for _, p := range got.Passes {
				votes[p.Label]++
			}
			if got.Tactic == "" && got.Invalid+got.Missing != r.Passes {
				t.Fatalf("%s: undecided with valid passes: %+v", r.Name, got)
			}
			for label, n := range votes {
				if label != "" && n > votes[got.Tactic] {
					t.Fatalf("%s: %s has %d votes, %s wins with %d", r.Name, label, n, got.Tactic, votes[got.Tactic])
				}
			}
		}
	}
}

func TestDrawTactics(t *testing.T) {
	m := masses(map[tactic.Tactic]float64{tactic.Denial: 0.3, tactic.Shaming: 0.25})
	r := Paper()
	r.TacticDraw = DrawSample
	passes, err := DrawTactics(m, r, []int64{11, 12, 13, 14, 15})
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[tactic.Tactic]int{}
	for i, p := range passes {
		want, err := Draw(m, r.Sampling, int64(11+i))
		if err != nil {
			t.Fatal(err)
		}
		if p.Index != i || p.Drawn != tactic.Options()[want] {
			t.Errorf("pass %d: %+v, want %s", i, p, tactic.Options()[want])
		}
		drawn[p.Drawn]++
	}
	if len(drawn) != 2 {
		t.Errorf("five seeds drew %v, want both", drawn)
	}
	if out := DecideTactic(passes, r); out.Invalid+out.Missing+out.Ignored != 0 {
		t.Errorf("%+v, want five passes that count", out)
	}

	nothing := make([]Mass, len(m))
	passes, err = DrawTactics(nothing, r, []int64{1, 2, 3, 4, 5})
	if out := DecideTactic(passes, r); err != nil || out.Invalid != 5 {
		t.Errorf("nothing observed: %+v, %v; want five invalid passes", out, err)
	}
	if _, err := DrawTactics(m[:3], r, []int64{1}); err == nil {
		t.Error("three probabilities: want an error")
	}
	r.Sampling.Temperature = -1
	if _, err := DrawTactics(m, r, []int64{1}); err == nil {
		t.Error("negative temperature: want an error")
	}
}
