package score

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// The paper's counts: 250 manipulative and 90 other clips.

var paperConfusion = Confusion{Yes: Verdicts{Yes: 87, No: 163}, No: Verdicts{Yes: 16, No: 74}}

func round3(f Figure) string {
	if !f.Defined {
		return "undefined: " + f.Reason
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", f.Value), "0")
}

// checkTable3 compares with the paper's Table 3, to its three decimals.

func checkTable3(t *testing.T, c Classification) {
	t.Helper()
	got := map[string][]string{
		"YES":      {round3(c.Yes.Precision), round3(c.Yes.Recall), round3(c.Yes.F1)},
		"NO":       {round3(c.No.Precision), round3(c.No.Recall), round3(c.No.F1)},
		"macro":    {round3(c.Macro.Precision), round3(c.Macro.Recall), round3(c.Macro.F1)},
		"weighted": {round3(c.Weighted.Precision), round3(c.Weighted.Recall), round3(c.Weighted.F1)},
		"accuracy": {round3(c.Accuracy)},
	}
	want := map[string][]string{
		"YES":      {".845", ".348", ".493"},
		"NO":       {".312", ".822", ".453"},
		"macro":    {".578", ".585", ".473"},
		"weighted": {".704", ".474", ".482"},
		"accuracy": {".474"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Table 3 (-paper +here):\n%s", diff)
	}
}

var (
	table4 = []string{
		"Intimidation 43 49.43", "Persuasion or Seduction 26 29.89", "Shaming or Belittlement 12 13.79",
		"Accusation 4 4.60", "Playing Servant Role 2 2.30",
	}
	table5 = []string{"Persuasion or Seduction 9 56.25", "Intimidation 6 37.50", "Accusation 1 6.25"}
)

func rows(table TacticTable) []string {
	var out []string
	for _, r := range table.Rows {
		out = append(out, fmt.Sprintf("%s %d %.2f", r.Tactic, r.Count, r.Percent))
	}
	return out
}

func TestTable3(t *testing.T) {
	c := Classify(paperConfusion, Failed{})
	checkTable3(t, c)
	if c.N != 340 || c.Decided != 340 || c.Yes.Support != 250 || c.No.Support != 90 {
		t.Errorf("n %d, decided %d, support %d and %d", c.N, c.Decided, c.Yes.Support, c.No.Support)
	}
	if diff := cmp.Diff(c.Metrics, c.Worst); diff != "" {
		t.Errorf("nothing is open, so the worst case is the result:\n%s", diff)
	}
	baselines := Baselines(itemsOf(paperConfusion))
	for _, b := range baselines[:2] {
		if got := round3(b.Classification.Accuracy); got != ".735" {
			t.Errorf("%s scores %s, want .735", b.Name, got)
		}
	}
	if always := baselines[0].Classification; always.No.Precision.Defined || always.Macro.Precision.Defined || round3(always.Macro.F1) != ".424" {
		t.Errorf("always-yes: NO precision %v, macro precision %v, macro F1 %s; want undefined, undefined, .424",
			always.No.Precision, always.Macro.Precision, round3(always.Macro.F1))
	}
}

// From passes to all three tables: every clip of the paper's counts gets five

// passes, with verbalizer fallbacks and INVALID passes among them.

func TestTablesFromPasses(t *testing.T) {
	r := vote.Paper()
	yes := []string{"YYYYY", "YYYNN", "yyYII", "NYnYY", "IYYYI", "YYyN"}
	no := []string{"NNNNN", "NNNYY", "nnIIn", "YNYNN", "NIN N", "NNNY"}
	predicted := map[dialogue.Truth][]tactic.Tactic{
		dialogue.Yes: repeat(map[tactic.Tactic]int{tactic.Intimidation: 43, tactic.Persuasion: 26, tactic.Shaming: 12, tactic.Accusation: 4, tactic.Servant: 2}),
		dialogue.No:  repeat(map[tactic.Tactic]int{tactic.Persuasion: 9, tactic.Intimidation: 6, tactic.Accusation: 1}),
	}
	var items []Item
	var fallbacks, invalid int
	for n := range 340 {
		it := Item{ID: fmt.Sprint(n), Truth: dialogue.Yes}
		place, called := n, n < 87
		if n >= 250 {
			it.Truth, place = dialogue.No, n-250
			called = place < 16
		}
		pattern := no[n%len(no)]
		if called {
			pattern = yes[n%len(yes)]
		}
		out := vote.Decide(passes(pattern, n, r), r)
		it.Verdict = out.Verdict
		fallbacks += out.Fallback
		invalid += out.Invalid
		if out.Verdict == vote.Yes {
			it.Tactic = vote.DecideTactic(vote.ScoredPasses(masses(predicted[it.Truth][place], n), r), r).Tactic
		}
		items = append(items, it)
	}
	if fallbacks < 100 || invalid < 100 {
		t.Fatalf("%d fallback and %d INVALID passes: the passes must hold both", fallbacks, invalid)
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })

	result := Score(items)
	if diff := cmp.Diff(paperConfusion, result.Confusion); diff != "" {
		t.Fatalf("confusion (-paper +here):\n%s", diff)
	}
	checkTable3(t, result.Classification)
	if diff := cmp.Diff(table4, rows(result.TacticsYes)); diff != "" || result.TacticsYes.N != 87 {
		t.Errorf("Table 4 of %d (-paper +here):\n%s", result.TacticsYes.N, diff)
	}
	if diff := cmp.Diff(table5, rows(result.TacticsNo)); diff != "" || result.TacticsNo.N != 16 {
		t.Errorf("Table 5 of %d (-paper +here):\n%s", result.TacticsNo.N, diff)
	}
}

// repeat lists each tactic as often as asked, in inventory order.

func repeat(counts map[tactic.Tactic]int) []tactic.Tactic {
	var out []tactic.Tactic
	for _, option := range tactic.All() {
		for range counts[option] {
			out = append(out, option)
		}
	}
	return out
}

// passes reads one letter a pass (a space is a pass nobody made); lower case

// goes through the fallback, and so does I, with neither verbalizer observed.

func passes(pattern string, n int, r vote.Rules) []vote.Pass {
	high, low := vote.Mass{P: 400_000_000, Observed: true}, vote.Mass{P: 399_999_999 - vote.Nano(n), Observed: true}
	var out []vote.Pass
	for i, letter := range pattern {
		p := vote.Pass{Index: i, Method: vote.Constrained}
		switch letter {
		case 'Y':
			p.Vote = vote.VoteYes
		case 'N':
			p.Vote = vote.VoteNo
		case 'y':
			p.Vote, p.Method = vote.DecideFallback(high, low, r)
		case 'n':
			p.Vote, p.Method = vote.DecideFallback(low, high, r)
		case 'I':
			p.Vote, p.Method = vote.DecideFallback(vote.Mass{P: 1000}, vote.Mass{P: 1000}, r)
		default:
			continue
		}
		out = append(out, p)
	}
	return out
}

// masses makes want win: by a clear lead, from behind none, or as the second of

// a thin lead.

func masses(want tactic.Tactic, n int) []vote.Mass {
	out := make([]vote.Mass, len(tactic.Options()))
	for i := range out {
		out[i] = vote.Mass{P: 1_000_000, Observed: true}
	}
	out[tactic.Index(want)].P = 500_000_000
	switch n % 3 {
	case 1:
		out[tactic.Index(tactic.None)].P = 600_000_000
	case 2:
		out[tactic.Index(tactic.Evasion)].P = 510_000_000
	}
	return out
}

func TestTable1(t *testing.T) {
	file, err := os.Open(shared(t, "data/mentalmanip/mentalmanip_con.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	set, err := dialogue.ReadCSV(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	table := TacticMentions(set.Dialogues)
	for _, r := range table.Rows {
		got = append(got, fmt.Sprintf("%s %d", r.Tactic, r.Count))
	}
	want := []string{
		"Persuasion or Seduction 607", "Shaming or Belittlement 384", "Accusation 361", "Intimidation 321",
		"Rationalization 213", "Brandishing Anger 133", "Denial 87", "Evasion 83", "Playing Victim Role 69",
		"Feigning Innocence 58", "Playing Servant Role 30",
	}
	if diff := cmp.Diff(want, got); diff != "" || table.N != 2346 {
		t.Errorf("Table 1 of %d mentions, want 2346 (-paper +here):\n%s", table.N, diff)
	}
}

// shared returns the path of a file in the folder beside the module, and skips

// the test where that is absent.

func shared(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the package")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "..", "shared", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs ../shared/%s beside the module", name)
	}
	return path
}

// Whatever the open items turn out to be, every figure lies within the bounds.

func TestSplit(t *testing.T) {
	unseen, seen := Split([]Item{{ID: "a"}, {ID: "b", Seen: true}, {ID: "c"}})
	if len(unseen) != 2 || unseen[1].ID != "c" || len(seen) != 1 || seen[0].ID != "b" {
		t.Errorf("unseen %v, seen %v", unseen, seen)
	}
}

func TestResultJSON(t *testing.T) {
	result := Score([]Item{{Truth: dialogue.Yes, Verdict: vote.Yes, Tactic: tactic.Denial, Tactics: []tactic.Tactic{tactic.Denial}}})
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result, back); diff != "" {
		t.Errorf("a result changes on its way through JSON:\n%s", diff)
	}
	for _, key := range []string{`"classification":{"n":1,"decided":1`, `"balanced_accuracy":{"undefined":`, `"end_to_end":{"hits":1,"n":1,"value":1`} {
		if !strings.Contains(string(data), key) {
			t.Errorf("the JSON lacks %s: %s", key, data)
		}
	}
}
