package report_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// The paper's tables, as the text report prints them. Of its 250 manipulative
// clips 87 were called YES, of its 90 others 16.
var (
	table3 = []string{
		"class P R F1 support",
		"YES 0.845 0.348 0.493 250",
		"NO 0.312 0.822 0.453 90",
		"macro 0.578 0.585 0.473",
		"weighted 0.704 0.474 0.482",
	}
	table4 = []string{
		"Tactics, truth YES: 87 called YES",
		"Intimidation 43 49.43%",
		"Persuasion or Seduction 26 29.89%",
		"Shaming or Belittlement 12 13.79%",
		"Accusation 4 4.60%",
		"Playing Servant Role 2 2.30%",
	}
	table5 = []string{
		"Tactics, truth NO: 16 called YES",
		"Persuasion or Seduction 9 56.25%",
		"Intimidation 6 37.50%",
		"Accusation 1 6.25%",
	}
)

// From stored passes to the printed tables: passes and tactic scores are
// written to a store, read back, decided on, recorded and reported.
func TestPaperTablesFromStoredPasses(t *testing.T) {
	store := mem.New()
	clips := paperClips()
	for _, c := range clips {
		c.put(t, store)
	}
	in := report.Input{Manifest: evaluation.Manifest{Spec: everything().Manifest.Spec, Items: len(clips)}}
	for _, c := range clips {
		in.Records = append(in.Records, c.judge(t, store))
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(in.Records), func(i, j int) {
		in.Records[i], in.Records[j] = in.Records[j], in.Records[i]
	})
	r := build(t, in)

	if c := r.Confusion; c.Yes.Yes != 87 || c.Yes.No != 163 || c.No.Yes != 16 || c.No.No != 74 || r.N != 340 {
		t.Fatalf("confusion %+v of %d", c, r.N)
	}
	p := r.Passes
	if p.Fallback < 100 || p.Invalid < 100 || p.Constrained+p.Fallback+p.Invalid != 340*5 {
		t.Errorf("passes %+v: want 1700 with fallback and INVALID ones among them", p)
	}
	lines := textLines(write(t, report.WriteText, r))
	for name, want := range map[string][]string{"Table 3": table3, "Table 4": table4, "Table 5": table5} {
		at := slices.Index(lines, want[0])
		if at < 0 || at+len(want) >= len(lines) {
			t.Errorf("%s: no line %q in the report", name, want[0])
			continue
		}
		if diff := cmp.Diff(append(want, ""), lines[at:at+len(want)+1]); diff != "" {
			t.Errorf("%s (-paper +here):\n%s", name, diff)
		}
	}
	for _, want := range []string{"accuracy 0.474 ", "baseline always-yes 0.735 ", "baseline majority 0.735 "} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("no line begins with %q", want)
		}
	}
}

// textLines returns the lines with their columns one space apart.
func textLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return lines
}

// paperClip is one of the evaluated clips: its five passes, a letter each as in
// judged, and what its tactic scoring favours when it is called YES.
type paperClip struct {
	id      string
	truth   dialogue.Truth
	pattern string
	tactic  tactic.Tactic // "" for a clip called NO
}

func paperClips() []paperClip {
	yes := []string{"YYYYY", "YYYNN", "yyYII", "NYnYY", "IYYYI"}
	no := []string{"NNNNN", "NNNYY", "nnIIn", "YNYNN", "NINNI"}
	var clips []paperClip
	add := func(truth dialogue.Truth, total int, called []tactic.Tactic) {
		for i := range total {
			c := paperClip{id: fmt.Sprintf("%s-%03d", truth, i), truth: truth, pattern: no[i%len(no)]}
			if i < len(called) {
				c.pattern, c.tactic = yes[i%len(yes)], called[i]
			}
			clips = append(clips, c)
		}
	}
	add(dialogue.Yes, 250, slices.Concat(
		slices.Repeat([]tactic.Tactic{tactic.Intimidation}, 43),
		slices.Repeat([]tactic.Tactic{tactic.Persuasion}, 26),
		slices.Repeat([]tactic.Tactic{tactic.Shaming}, 12),
		slices.Repeat([]tactic.Tactic{tactic.Accusation}, 4),
		slices.Repeat([]tactic.Tactic{tactic.Servant}, 2),
	))
	add(dialogue.No, 90, slices.Concat(
		slices.Repeat([]tactic.Tactic{tactic.Persuasion}, 9),
		slices.Repeat([]tactic.Tactic{tactic.Intimidation}, 6),
		[]tactic.Tactic{tactic.Accusation},
	))
	return clips
}

func (c paperClip) question() evaluation.Question {
	return evaluation.Question{Detector: detect.Identity{Detector: "paper"}, Modality: detect.Audio, Input: c.id}
}

func (c paperClip) passKey(index int) string {
	return evaluation.PassKey(c.question(), rules().Sampling, index, c.seed(index))
}

func (c paperClip) tacticsKey() string {
	return evaluation.TacticsKey(c.question(), rules().TacticForms)
}

func (c paperClip) seed(index int) int64 { return evaluation.PassSeed(1, c.id, index) }

func (c paperClip) put(t *testing.T, store objectstore.Store) {
	t.Helper()
	for i, letter := range c.pattern {
		p, _ := pass(i, letter)
		putJSON(t, store, c.passKey(i), evaluation.StoredPass{
			Question: c.question(),
			Pass:     p.Pass,
			Seed:     c.seed(i),
			Sampling: rules().Sampling,
			Decision: detect.Decision{Vote: p.Vote, Method: p.Method, PYes: p.PYes},
		})
	}
	if c.tactic != "" {
		putJSON(t, store, c.tacticsKey(), evaluation.StoredTactics{Question: c.question(), Scores: scored(c.tactic)})
	}
}

// judge decides from what is stored alone.
func (c paperClip) judge(t *testing.T, store objectstore.Store) evaluation.Record {
	t.Helper()
	r := evaluation.Record{Evaluation: "small", ID: c.id, Truth: c.truth, TextHash: c.id, Turns: 2}
	for i := range rules().Passes {
		stored, ref := getJSON[evaluation.StoredPass](t, store, c.passKey(i))
		r.Passes = append(r.Passes, evaluation.PassRecord{Pass: stored.Pass, Seed: stored.Seed, PYes: stored.Decision.PYes, Ref: ref})
	}
	r.Verdict = vote.Decide(votes(r.Passes), rules())
	if r.Verdict.Verdict == vote.Yes {
		stored, _ := getJSON[evaluation.StoredTactics](t, store, c.tacticsKey())
		outcome := vote.DecideTactic(vote.ScoredPasses(stored.Scores.Masses, rules()), rules())
		r.Scores, r.Tactic = &stored.Scores, &outcome
	}
	return r
}

func putJSON(t *testing.T, store objectstore.Store, key string, value any) {
	t.Helper()
	if _, err := objectstore.PutJSON(context.Background(), store, key, value, objectstore.PutOptions{IfAbsent: true}); err != nil {
		t.Fatal(err)
	}
}

func getJSON[T any](t *testing.T, store objectstore.Store, key string) (T, objectstore.Ref) {
	t.Helper()
	ref, err := store.Stat(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	value, err := objectstore.GetJSON[T](context.Background(), store, ref)
	if err != nil {
		t.Fatal(err)
	}
	return value, ref
}
