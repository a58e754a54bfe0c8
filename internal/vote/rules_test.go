package vote

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

// Each TestRule… is one row of the protocol's table of presets, with an input on
// which the two presets differ.

func TestRuleExemplars(t *testing.T) {
	full := Exemplar{ID: "85514414", Vote: VoteYes, Tactic: tactic.Persuasion, Quote: "you owe me this"}
	if got := Paper().Shown(full); got != full {
		t.Errorf("paper shows %+v, want all of %+v", got, full)
	}
	want := Exemplar{ID: "85514414", Vote: VoteYes}
	if got := Released().Shown(full); got != want {
		t.Errorf("released shows %+v, want the label only: %+v", got, want)
	}
	for _, r := range []Rules{Paper(), Released()} {
		for _, id := range []string{"85514440", "85514449", "85514414", "85514416"} {
			if !r.IsExemplar(id) {
				t.Errorf("%s: %s must not be scored", r.Name, id)
			}
		}
		if r.IsExemplar("85514415") {
			t.Errorf("%s: 85514415 is no exemplar", r.Name)
		}
	}
}

func TestRuleDecision(t *testing.T) {
	masses := []Mass{seen(0.55), seen(0.45)} // YES, NO
	decide := func(r Rules, firstSeed int64) Outcome {
		var passes []Pass
		for i := range r.Passes {
			place, err := Draw(masses, r.Sampling, firstSeed+int64(i))
			if err != nil {
				t.Fatal(err)
			}
			passes = append(passes, Pass{Index: i, Vote: []Vote{VoteYes, VoteNo}[place], Method: Constrained})
		}
		return Decide(passes, r)
	}
	var sampledNo, split int
	for seed := int64(0); seed < 500; seed += 5 {
		if out := decide(Released(), seed); out.Verdict != Yes || out.Yes != 5 {
			t.Fatalf("released, greedy: %+v, want five identical YES", out)
		}
		out := decide(Paper(), seed)
		if out.Verdict == No {
			sampledNo++
		}
		if out.Yes > 0 && out.No > 0 {
			split++
		}
	}
	// p(YES) at temperature 0.6 is 0.583, so three of five are NO in 35% of 100.
	if sampledNo < 20 || sampledNo > 50 || split < 80 {
		t.Errorf("paper, sampled: %d NO verdicts and %d split votes of 100, want about 35 and 93", sampledNo, split)
	}
}

func TestRuleFallback(t *testing.T) {
	tests := []struct {
		name            string
		yes, no         Mass
		paper, released Vote
	}{
		{"a small lead", seen(0.50), seen(0.47), VoteYes, VoteNo},
		{"a lead of exactly the margin", seen(0.50), seen(0.45), VoteYes, VoteNo},
		{"just above the margin", Mass{P: 500_000_001, Observed: true}, seen(0.45), VoteYes, VoteYes},
		{"equal is NO", seen(0.4), seen(0.4), VoteNo, VoteNo},
		{"neither observed", unseen(0.4), unseen(0.1), VoteInvalid, VoteInvalid},
		{"NO unobserved, too small to matter", seen(0.6), unseen(0.01), VoteYes, VoteYes},
		{"NO unobserved, within the margin", seen(0.06), unseen(0.02), VoteYes, VoteInvalid},
		{"NO unobserved, might be larger", seen(0.2), unseen(0.3), VoteInvalid, VoteInvalid},
		{"NO unobserved, no bound known", seen(0.9), Mass{}, VoteInvalid, VoteInvalid},
		{"YES unobserved, too small to matter", unseen(0.01), seen(0.3), VoteNo, VoteNo},
		{"YES unobserved, within the margin", unseen(0.34), seen(0.3), VoteInvalid, VoteNo},
		{"YES unobserved, no bound known", Mass{}, seen(0.5), VoteInvalid, VoteInvalid},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range []struct {
				r    Rules
				want Vote
			}{{Paper(), test.paper}, {Released(), test.released}} {
				method := Fallback
				if c.want == VoteInvalid {
					method = Failed
				}
				if got, m := DecideFallback(test.yes, test.no, c.r); got != c.want || m != method {
					t.Errorf("%s: %s by %s, want %s by %s", c.r.Name, got, m, c.want, method)
				}
			}
		})
	}
}

func TestRuleClipLabel(t *testing.T) {
	tests := []struct {
		votes           string // Y, N, I
		paper, released Verdict
	}{
		{"YYNII", Unresolved, Yes},
		{"YNNII", Unresolved, No},
		{"YYNNI", Unresolved, No}, // the scripts' tie
		{"YYYII", Yes, Yes},
		{"NNNII", No, No},
		{"YYYNN", Yes, Yes},
		{"YYNNN", No, No},
		{"YYY", Yes, Yes},
		{"YY", Unresolved, Yes},
		{"IIIII", Unresolved, Unresolved},
		{"", Unresolved, Unresolved},
	}
	for _, test := range tests {
		t.Run(test.votes, func(t *testing.T) {
			if got := Decide(passesOf(test.votes), Paper()).Verdict; got != test.paper {
				t.Errorf("paper: %s, want %s", got, test.paper)
			}
			if got := Decide(passesOf(test.votes), Released()).Verdict; got != test.released {
				t.Errorf("released: %s, want %s", got, test.released)
			}
		})
	}
}

func TestRuleTacticScoring(t *testing.T) {
	// What a vocabulary might give to each spelling.
	byForm := map[string]float64{
		"Denial": 0.30, "Evasion": 0.10, " Evasion": 0.10, "evasion": 0.10, " evasion": 0.10,
		"none": 0.05, " none": 0.02,
	}
	decide := func(r Rules) tactic.Tactic {
		masses := make([]Mass, len(tactic.Options()))
		for i, option := range tactic.Options() {
			masses[i].Observed = true
			for _, form := range r.Forms(option) {
				masses[i].P += Nano(math.Round(byForm[form] * 1e9))
			}
		}
		return DecideTactic(ScoredPasses(masses, r), r).Tactic
	}
	if got := decide(Paper()); got != tactic.Denial {
		t.Errorf("paper, plain form: %s, want Denial", got)
	}
	if got := decide(Released()); got != tactic.Evasion {
		t.Errorf("released, four forms: %s, want Evasion", got)
	}
	if diff := cmp.Diff([]string{"none", " none"}, Released().Forms(tactic.None)); diff != "" {
		t.Errorf("a form must not be summed twice:\n%s", diff)
	}
}

func TestRuleTacticPass(t *testing.T) {
	// Both Playing tactics score their shared first token: a tie in front.
	tie := masses(map[tactic.Tactic]float64{tactic.Servant: 0.4, tactic.Victim: 0.4, tactic.Denial: 0.1})
	if got := DecideTactic(ScoredPasses(tie, Released()), Released()); got.Tactic != tactic.Servant {
		t.Errorf("released: %s, want Playing Servant Role", got.Tactic)
	}
	if got := DecideTactic(ScoredPasses(tie, Paper()), Paper()); got.Tactic != tactic.Victim || got.Gain != 0 {
		t.Errorf("paper: %s with gain %d, want the second in the inventory, Playing Victim Role, with 0", got.Tactic, got.Gain)
	}
}

func TestRuleTacticDraw(t *testing.T) {
	// Both presets score, so the setting itself is what differs. None leads: the
	// scored label is the second-best; a drawn tactic gives way to none.
	sample := Paper()
	sample.TacticDraw = DrawSample
	m := masses(map[tactic.Tactic]float64{tactic.None: 0.5, tactic.Denial: 0.4})
	for _, r := range []Rules{Paper(), Released()} {
		out := DecideTactic(ScoredPasses(m, r), r)
		if out.Tactic != tactic.Denial || out.Votes != 5 {
			t.Errorf("%s: %s by %d passes, want Denial by all five", r.Name, out.Tactic, out.Votes)
		}
	}
	passes := ScoredPasses(m, sample)
	for i := range passes {
		passes[i].Drawn = []tactic.Tactic{tactic.None, tactic.Denial, tactic.Denial, tactic.None, tactic.Denial}[i]
	}
	out := DecideTactic(passes, sample)
	if out.Tactic != tactic.None || out.Votes != 3 || out.Passes[1].Margin != -100_000_000 {
		t.Errorf("sample: %s by %d passes, margin %d; want none by 3, margin -1e8", out.Tactic, out.Votes, out.Passes[1].Margin)
	}
	if out.Argmax != tactic.None || out.Second != tactic.Denial || out.Gain != 100_000_000 {
		t.Errorf("argmax %s, second %s, gain %d", out.Argmax, out.Second, out.Gain)
	}
}

func TestRuleTieWithNone(t *testing.T) {
	denial := masses(map[tactic.Tactic]float64{tactic.Denial: 0.5, tactic.None: 0.1})
	none := masses(map[tactic.Tactic]float64{tactic.Accusation: 0.20, tactic.None: 0.19}) // thin lead: none
	passes := []TacticPass{{Index: 0, Masses: denial}, {Index: 1, Masses: none}, {Index: 2, Masses: denial}, {Index: 3, Masses: none}}
	paper := DecideTactic(passes, Paper())
	if paper.Tactic != tactic.Denial || len(paper.Tied) != 2 || paper.Missing != 1 {
		t.Errorf("paper: %+v, want Denial: its mean .25 exceeds .145 by more than .02", paper)
	}
	if got := DecideTactic(passes, Released()).Tactic; got != tactic.None {
		t.Errorf("released: %s, want none", got)
	}
	// Means .20 and .18 + 1e-9 or .18: a gain just below, and exactly, .02.
	edge := func(noneP Nano) tactic.Tactic {
		a := masses(map[tactic.Tactic]float64{tactic.Denial: 0.40, tactic.None: 0})
		b := masses(map[tactic.Tactic]float64{tactic.Accusation: 0.37})
		b[tactic.Index(tactic.None)] = Mass{P: noneP, Observed: true}
		return DecideTactic([]TacticPass{{Index: 0, Masses: a}, {Index: 1, Masses: b}}, Paper()).Tactic
	}
	if got := edge(360_000_002); got != tactic.None {
		t.Errorf("gain below .02: %s, want none", got)
	}
	if got := edge(360_000_000); got != tactic.Denial {
		t.Errorf("gain of .02: %s, want Denial", got)
	}
}

func TestRuleTieWithoutNone(t *testing.T) {
	first := masses(map[tactic.Tactic]float64{tactic.Shaming: 0.3})
	second := masses(map[tactic.Tactic]float64{tactic.Denial: 0.5})
	passes := []TacticPass{{Index: 0, Masses: first}, {Index: 1, Masses: second}, {Index: 2, Masses: first}, {Index: 3, Masses: second}}
	if got := DecideTactic(passes, Paper()).Tactic; got != tactic.Denial {
		t.Errorf("paper: %s, want Denial, the higher mean", got)
	}
	if got := DecideTactic(passes, Released()).Tactic; got != tactic.Shaming {
		t.Errorf("released: %s, want Shaming or Belittlement, seen first", got)
	}
	equal := masses(map[tactic.Tactic]float64{tactic.Denial: 0.3})
	passes = []TacticPass{{Index: 0, Masses: first}, {Index: 1, Masses: equal}}
	if got := DecideTactic(passes, Paper()).Tactic; got != tactic.Denial {
		t.Errorf("paper, equal means: %s, want Denial, earlier in the inventory", got)
	}
}

func TestRuleEvidence(t *testing.T) {
	for _, test := range []struct {
		verdict Verdict
		tactic  tactic.Tactic
		r       Rules
		ask     bool
		named   tactic.Tactic
	}{
		{Yes, tactic.None, Paper(), true, ""},
		{Yes, tactic.None, Released(), false, tactic.None},
		{Yes, tactic.Denial, Paper(), true, ""},
		{Yes, tactic.Denial, Released(), true, tactic.Denial},
		{Yes, "", Released(), false, ""},
		{No, tactic.Denial, Paper(), false, ""},
		{Unresolved, tactic.Denial, Released(), false, ""},
	} {
		ask, named := test.r.AsksEvidence(test.verdict, test.tactic)
		if ask != test.ask || named != test.named {
			t.Errorf("%s: AsksEvidence(%s, %q) = %v, %q; want %v, %q", test.r.Name, test.verdict, test.tactic, ask, named, test.ask, test.named)
		}
	}
	raw := "Reason: “one two  three four five\tsix seven eight nine ten eleven twelve thirteen”"
	paper := Quote{Text: `Reason: "one two three four five six seven eight nine ten eleven twelve thirteen"`, Words: 14, OverLong: true}
	if got := NormalizeQuote(raw, Paper()); got != paper {
		t.Errorf("paper: %+v\nwant %+v", got, paper)
	}
	released := Quote{Text: "one two three four five six seven eight nine ten eleven twelve", Words: 13, OverLong: true}
	if got := NormalizeQuote(raw, Released()); got != released {
		t.Errorf("released: %+v\nwant %+v", got, released)
	}
}

func TestPresets(t *testing.T) {
	for _, name := range Presets() {
		r, err := Preset(name)
		if err != nil || r.Name != name || r.Validate() != nil {
			t.Errorf("Preset(%q) = %+v, %v; valid: %v", name, r, err, r.Validate())
		}
		var back Rules
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, back); diff != "" {
			t.Errorf("%s changes on its way through JSON:\n%s", name, diff)
		}
	}
	if _, err := Preset("papr"); err == nil || !strings.Contains(err.Error(), `"papr"`) || !strings.Contains(err.Error(), `"released"`) {
		t.Errorf("Preset(papr): %v, want an error with the valid names", err)
	}
}

func TestValidate(t *testing.T) {
	for name, spoil := range map[string]func(*Rules){
		"passes":          func(r *Rules) { r.Passes = 0 },
		"exemplars":       func(r *Rules) { r.Exemplars = "audio" },
		"temperature":     func(r *Rules) { r.Sampling.Temperature = math.NaN() },
		"top_p":           func(r *Rules) { r.Sampling.TopP = 0 },
		"fallback_margin": func(r *Rules) { r.FallbackMargin = -1 },
		"label":           func(r *Rules) { r.Label = "majority" },
		"quorum":          func(r *Rules) { r.Passes = 6 }, // three YES and three NO would both win
		"tactic_forms":    func(r *Rules) { r.TacticForms = "" },
		"tactic_draw":     func(r *Rules) { r.TacticDraw = "argmax" },
		"tactic_order":    func(r *Rules) { r.TacticOrder = "name" },
		"tactic_margin":   func(r *Rules) { r.TacticMargin = One + 1 },
		"tactic_second":   func(r *Rules) { r.TacticSecond = "skip" },
		"none_tie":        func(r *Rules) { r.NoneTie = "tactic" },
		"none_tie_gain":   func(r *Rules) { r.NoneTieGain = -1 },
		"tactic_tie":      func(r *Rules) { r.TacticTie = "random" },
		"evidence":        func(r *Rules) { r.Evidence = "never" },
		"quote":           func(r *Rules) { r.Quote = "cut" },
		"quote_words":     func(r *Rules) { r.QuoteWords = 0 },
		"quote_retries":   func(r *Rules) { r.QuoteRetries = -1 },
	} {
		r := Paper()
		spoil(&r)
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s spoiled: %v, want an error that names it", name, err)
		}
	}
	if err := (Rules{}).Validate(); err == nil || strings.Count(err.Error(), "\n") < 8 {
		t.Errorf("empty rules: %v, want all problems at once", err)
	}
}
