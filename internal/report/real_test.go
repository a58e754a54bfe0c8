package report_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// paid is a small evaluation by a real detector: both modalities, both option
// orders, votes that stop early, exemplars, prices and a budget.
func paid() report.Input {
	in := everything()
	spec := &in.Manifest.Spec
	spec.Detection.Modality, spec.Detection.OptionOrder = evaluation.Both, evaluation.OrderBoth
	spec.Rules.Votes = vote.VotesEarlyStop
	spec.Prices = evaluation.Prices{Currency: "EUR\x1b[1m", Credit: 200, DetectorCall: 1500}
	spec.Budget = evaluation.Budget{Calls: 80, Money: 200_000}
	in.Facts = []detect.Fact{{Name: "dialect", Value: "vllm"}, {Name: hostile, Value: hostile}, {Name: "tactics", Value: "parsed, no probabilities"}}
	in.Shown = []evaluation.Exemplar{
		{Item: evaluation.Item{ID: "shown-1", Clip: objectstore.Ref{SHA256: "of-j-same-clip"}}, Exemplar: vote.Exemplar{ID: "shown-1", Vote: vote.VoteNo}},
		{Item: evaluation.Item{ID: "shown-2"}, Exemplar: vote.Exemplar{ID: "shown-2", Vote: vote.VoteYes, Tactic: tactic.Denial, Quote: hostile}},
	}
	in.ShownTexts = []string{"text of shown-1", "text of i-same-text"}
	in.Manifest.Estimates = []evaluation.Cost{{Calls: 60, Money: 180_000}, {Calls: 25, Money: 70_000}}
	in.Engines.Rendering = evaluation.Usage{TurnsMade: 4, Characters: 100, Credits: 100, ClipsMade: 2}
	in.Engines.Swapped = detect.Identity{Detector: "chat", Model: "m", Method: "constrained ba"}
	in.Seen = detect.Seen{IDs: []string{"h-seen"}}
	in.Records = []evaluation.Record{
		both("a-agreed", dialogue.Yes, "YYY", "YYYY", "YYY", "YYY"),
		both("b-lost-in-audio", dialogue.Yes, "NNN", "NNN", "YYY", "YNYYY"),
		both("c-flipped", dialogue.Yes, "YYY", "NNN", "YYY", "YYY"),
		both("d-heard-only", dialogue.Yes, "YYY", "YYY", "NNN", "NNN"),
		both("e-quiet", dialogue.No, "NNN", "NNN", "NNN", "NNN"),
		both("f-flipped-back", dialogue.No, "NNN", "YYY", "YYY", "YYY"),
		both("g-invalid", dialogue.No, "IIII", "NNN", "NNN", "YYYI"),
		both("h-seen", dialogue.Yes, "YYY", "YYY", "YYY", "YYY"),
		both("i-same-text", dialogue.Yes, "YYY", "YYY", "YYY", "YYY"),
		both("j-same-clip", dialogue.Yes, "YYY", "YYY", "YYY", "YYY"),
		both("k-unlabelled", dialogue.Unknown, "YYY", "YYY", "YYY", "NNN"),
		both("shown-2", dialogue.Yes, "YYY", "YYY", "YYY", "YYY"),
		failed("m-failed", dialogue.Yes),
	}
	in.Manifest.Items = len(in.Records)
	in.Records[0].Text.Evidence = quoted("you will regret it", true)
	in.Records[1].Text.Evidence = quoted("never said "+hostile, false)
	in.Records[2].Text.Evidence = quoted("", false)
	return in
}

func quoted(text string, occurs bool) *evaluation.EvidenceRecord {
	e := evaluation.EvidenceRecord{Quote: vote.NormalizeQuote(text, rules()), Attempts: 1}
	if text != "" {
		e.Occurs = &occurs
	}
	return &e
}

// both is judged by its clip and by its text, each in both option orders.
func both(id string, truth dialogue.Truth, clip, clipSwapped, text, textSwapped string) evaluation.Record {
	r := judged(id, truth, "")
	r.Judgement = inBothOrders(clip, clipSwapped)
	written := inBothOrders(text, textSwapped)
	r.Text = &written
	r.Usage = evaluation.Usage{TurnsMade: 2, Characters: 80, Credits: 81, ClipsMade: 1, PassesMade: 5, Questions: 6}
	return r
}

func inBothOrders(straight, swapped string) evaluation.Judgement {
	var j evaluation.Judgement
	other := evaluation.SwappedRecord{}
	j.Passes, other.Straight = decided(straight)
	other.Passes, other.Verdict = decided(swapped)
	j.Swapped, j.Verdict = &other, vote.Combine(other.Straight, other.Verdict)
	return j
}

func decided(pattern string) ([]evaluation.PassRecord, vote.Outcome) {
	var passes []evaluation.PassRecord
	for i, letter := range pattern {
		if p, ok := pass(i, letter); ok {
			passes = append(passes, p)
		}
	}
	return passes, vote.Decide(votes(passes), rules())
}

// A server that has one model need not be told its name.
func TestModelOfTheServer(t *testing.T) {
	in := everything()
	in.Manifest.Spec.Detection.ModelName = ""
	if text := write(t, report.WriteText, build(t, in)); !strings.Contains(text, "by baseline-cascade (sha-1)") {
		t.Errorf("the heading doesn't name the model that judged:\n%.300s", text)
	}
	in.Engines = evaluation.Engines{}
	if text := write(t, report.WriteText, build(t, in)); !strings.Contains(text, "(model not known yet)") {
		t.Errorf("the heading:\n%.300s", text)
	}
}

func TestPaidText(t *testing.T) {
	text := write(t, report.WriteText, build(t, paid()))
	golden(t, "paid.golden", text)
	lines(t, text)
}

func TestOptionOrders(t *testing.T) {
	o := build(t, paid()).Orders
	// Unseen and judged: a b c d e f g k. Decided in both orders: all but g. Flips: c
	// to NO, f to YES.
	if o.N != 8 || o.Flips.N != 7 || o.Flips.Hits != 2 || o.ToYes != 1 || o.ToNo != 1 {
		t.Errorf("flips: %+v", o)
	}
	if o.Unresolved != 3 || o.OneDecided != 1 || o.NoDecided != 0 {
		t.Errorf("UNRESOLVED: %+v", o)
	}
	// p(YES) is 0.6 for Y and 0.3 for N: c shifts by -0.3, f by +0.3, the others by 0;
	// of g it was not observed.
	if o.Shift.N != 7 || o.Unobserved != 1 || o.Shift.Value.Value > 1e-12 || o.Shift.Value.Value < -1e-12 {
		t.Errorf("shift: %+v", o)
	}
	if half := (o.Shift.High.Value - o.Shift.Low.Value) / 2; fmt.Sprintf("%.4f", half) != "0.1602" { // 2.4469 * sqrt(0.18 / 6 / 7)
		t.Errorf("half the interval is %.4f, want 0.1602", half)
	}
	if one := build(t, everything()); one.Orders != nil || one.Analytic != nil || one.Modalities != nil {
		t.Errorf("of one order, modality and drawn votes: %+v %+v %+v", one.Orders, one.Analytic, one.Modalities)
	}
}

func TestModalities(t *testing.T) {
	r := build(t, paid())
	m := r.Modalities
	if r.N != 8 || m.Text.N != 8 || m.Paired != 7 {
		t.Errorf("n %d, by text %d, paired %d; want 8, 8, 7", r.N, m.Text.N, m.Paired)
	}
	recall, specificity := m.Gaps.Recall, m.Gaps.Specificity
	if recall.N != 3 || recall.OnlyFirst != 1 || recall.OnlySecond != 1 || recall.Open != 1 {
		t.Errorf("recall: %+v", recall) // a b d decided by both, c open
	}
	if specificity.N != 1 || specificity.Open != 2 || specificity.Difference.Value != 0 {
		t.Errorf("specificity: %+v", specificity) // e decided by both, f and g open
	}
	if diff := cmp.Diff([]evaluation.Excluded{
		{ID: "c-flipped", Reason: "UNRESOLVED by its clip"},
		{ID: "f-flipped-back", Reason: "UNRESOLVED by its clip"},
		{ID: "g-invalid", Reason: "UNRESOLVED by both"},
		{ID: "m-failed", Reason: "failed"},
	}, m.Dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	if recall.N+recall.Open+specificity.N+specificity.Open != m.Paired || m.Paired+1 != r.N {
		t.Errorf("the gaps' pairs are not the paired ones: %+v", m.Gaps)
	}
	if q := m.Text.Quotes; q.Asked != 3 || q.Given != 2 || q.Occurring == nil || q.Occurring.Hits != 1 || q.Occurring.N != 2 {
		t.Errorf("quotes by text: %+v", q)
	}
	if r.Quotes.Occurring != nil {
		t.Errorf("nothing was shown that a clip's quote could stand in: %+v", r.Quotes)
	}
}

// A dialogue without the second judgement is failed there, and in no difference.
func TestHalfJudged(t *testing.T) {
	in := paid()
	in.Records[0].Text = nil
	r := build(t, in)
	if r.Modalities.Text.Failed.Yes != 2 || r.Modalities.Paired != 6 || r.Modalities.Gaps.Recall.N != 2 {
		t.Errorf("failed %+v, paired %d, gap %+v", r.Modalities.Text.Failed, r.Modalities.Paired, r.Modalities.Gaps.Recall)
	}
	if at := slices.Index(r.Modalities.Dropped, evaluation.Excluded{ID: "a-agreed", Reason: "not judged by its text"}); at < 0 {
		t.Errorf("dropped: %+v", r.Modalities.Dropped)
	}
}

// Early stops: what could not change a verdict was not needed, the rest is missing.
func TestNotNeeded(t *testing.T) {
	in := everything()
	in.Records = []evaluation.Record{judged("a", dialogue.Yes, "YYY"), judged("b", dialogue.Yes, "YNYN"), judged("c", dialogue.Yes, "IIINN")}
	r := build(t, in)
	if want := (report.Passes{Constrained: 9, Invalid: 3, Missing: 3}); r.Passes != want {
		t.Errorf("sampled: %+v, want %+v", r.Passes, want)
	}
	in.Manifest.Spec.Rules.Votes = vote.VotesEarlyStop
	r = build(t, in)
	if want := (report.Passes{Constrained: 9, Invalid: 3, Missing: 1, NotNeeded: 2}); r.Passes != want {
		t.Errorf("early stop: %+v, want %+v", r.Passes, want)
	}
}

func TestAnalytic(t *testing.T) {
	in := everything()
	in.Manifest.Spec.Rules.Votes = vote.VotesAnalytic
	in.Records = nil
	for i, yes := range []vote.Nano{vote.One, 800_000_000, 500_000_000, 200_000_000} {
		r := judged(fmt.Sprint(i), dialogue.Yes, "")
		outcome, majority := vote.DecideAnalytic(yes, rules())
		r.Verdict = outcome
		r.Analytic = &evaluation.AnalyticRecord{
			Choice:   detect.Choice{Yes: yes, PYes: vote.Mass{P: yes, Observed: true}, Method: "=post-mask\x1b"},
			Majority: majority,
			Ref:      objectstore.Ref{Key: "passes/of"},
		}
		in.Records = append(in.Records, r)
	}
	r := build(t, in)
	a := r.Analytic
	if a == nil || a.N != 4 || a.Undecided != 1 {
		t.Fatalf("analytic: %+v", a)
	}
	// P(at least 3 of 5) at 0.8 is 0.94208; of 1, 0.8, 0.5 and 0.2 together 2.5 of 4.
	if got := fmt.Sprintf("%.6f %.6f", a.MeanMajority.Value, a.MeanLabel.Value); got != "0.625000 0.961387" {
		t.Errorf("mean majority and mean label: %s", got)
	}
	if want := (report.Passes{NotDrawn: 20}); r.Passes != want {
		t.Errorf("passes: %+v, want %+v", r.Passes, want)
	}
	text := write(t, report.WriteText, r)
	for _, want := range []string{"Passes: 20 not drawn (analytic)", `=post-mask\x1b`, "exactly undecided: 1"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(write(t, report.WritePassesCSV, r))).ReadAll()
	if err != nil || len(rows) != 5 || rows[2][3] != "analytic: =post-mask\\x1b" || rows[2][10] != "0.942080" {
		t.Errorf("passes as CSV: %q, %v", rows, err)
	}
}

func TestCost(t *testing.T) {
	r := build(t, paid())
	// 12 dialogues of 2 turns and 6 questions, a failed one's turn, the exemplars' 4.
	if r.Cost.Calls != 101 || r.Cost.Credits != 1072 || r.Cost.Money != 1072*200+72*1500 || r.Cost.Over.Calls != 21 || r.Cost.Over.Money != 122_400 || r.Cost.Estimated.Calls != 85 {
		t.Errorf("cost: %+v", r.Cost)
	}
	in := paid()
	in.Manifest.Spec.Prices, in.Manifest.Spec.Budget = evaluation.Prices{}, evaluation.Budget{}
	free := build(t, in)
	if free.Cost.Money != 0 || free.Cost.Over != (evaluation.Cost{}) || free.Cost.Calls != 101 {
		t.Errorf("without prices and budget: %+v", free.Cost)
	}
	if text := strings.Join(strings.Fields(write(t, report.WriteText, free)), " "); !strings.Contains(text, "no prices given") || strings.Contains(text, "Budget:") {
		t.Error("the text doesn't say that there are no prices, or tells of a budget")
	}
}

// Copies of what was shown are left out, also of exemplars that are no records.
func TestShownIsLeftOut(t *testing.T) {
	r := build(t, paid())
	if diff := cmp.Diff([]evaluation.Excluded{
		{ID: "exemplar-0", Reason: "exemplar"},
		{ID: "i-same-text", Reason: "same text as an exemplar"},
		{ID: "j-same-clip", Reason: "same clip as an exemplar"},
		{ID: "shown-2", Reason: "exemplar"},
	}, r.Exemplars); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]report.ReasonCount{
		{Reason: "exemplar", Count: 2}, {Reason: "same clip as an exemplar", Count: 1}, {Reason: "same text as an exemplar", Count: 1},
	}, r.LeftOut); diff != "" {
		t.Errorf("by reason (-want +got):\n%s", diff)
	}
}

// What is seen is in no table of the headline.
func TestSeenTactics(t *testing.T) {
	r := build(t, everything())
	if r.Tactics.All.N != 4 || r.Seen.Tactics == nil || r.Seen.Tactics.N != 1 {
		t.Errorf("all %+v, seen %+v; want 4 unseen and 1 seen", r.Tactics.All, r.Seen.Tactics)
	}
}

func TestPaidForms(t *testing.T) {
	r := build(t, paid())
	var back report.Report
	if err := json.Unmarshal([]byte(write(t, report.WriteJSON, r)), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Modalities, back.Modalities, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("JSON reads back (-want +got):\n%s", diff)
	}
	var tree any
	if err := json.Unmarshal([]byte(write(t, report.WriteJSON, r)), &tree); err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	collectKeys("", tree, paths)
	golden(t, "paid.keys", strings.Join(slices.Sorted(maps.Keys(paths)), "\n")+"\n")
	golden(t, "figures.golden", strings.ReplaceAll(write(t, report.WriteFiguresCSV, r), "\r\n", "\n"))
	for name, writer := range map[string]report.Writer{"dialogues": report.WriteDialoguesCSV, "passes": report.WritePassesCSV, "figures": report.WriteFiguresCSV} {
		text := write(t, writer, r)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if at := strings.IndexFunc(text, func(c rune) bool { return c != '\r' && c != '\n' && !unicode.IsPrint(c) }); at >= 0 {
			t.Errorf("%s: holds %q, which can steer a terminal", name, text[at:at+1])
		}
		for _, row := range rows {
			for _, cell := range row {
				if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "@") {
					t.Errorf("%s: %q is a formula", name, cell)
				}
			}
		}
	}
	rows, _ := csv.NewReader(strings.NewReader(write(t, report.WritePassesCSV, r))).ReadAll()
	kinds := map[string]int{}
	for _, row := range rows[1:] {
		kinds[row[8]+" "+row[9]]++
	}
	if diff := cmp.Diff(map[string]int{"audio ab": 28, "audio ba": 28, "text ab": 27, "text ba": 30}, kinds); diff != "" {
		t.Errorf("passes by modality and order (-want +got):\n%s", diff)
	}
}
