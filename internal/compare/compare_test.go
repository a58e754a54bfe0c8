package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/compare"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// hostile is text that steers a terminal or a page.
const hostile = "<script>alert(1)</script>\x1b[2J\u202e\n"

// evaluated is an evaluation of records.
func evaluated(t *testing.T, id string, change func(*report.Input), records ...evaluation.Record) report.Report {
	t.Helper()
	in := report.Input{
		Manifest: evaluation.Manifest{Items: len(records), Spec: evaluation.Spec{
			ID: id, Dataset: evaluation.Dataset{Name: "set"}, Rules: vote.Paper(),
			Detection: evaluation.Detection{Detector: "d", ModelName: "m", Modality: detect.Audio},
		}},
		Engines: evaluation.Engines{Detector: detect.Identity{Detector: "d", Fingerprint: "f"}},
	}
	in.Manifest.Spec.Rules.ExemplarIDs = nil
	for _, r := range records {
		r.Evaluation = id
		in.Records = append(in.Records, r)
	}
	if change != nil {
		change(&in)
	}
	built, err := report.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func judged(id string, truth dialogue.Truth, v vote.Verdict) evaluation.Record {
	r := evaluation.Record{ID: id, Truth: truth, TextHash: "text of " + id, Clip: objectstore.Ref{SHA256: "clip of " + id}}
	r.Verdict.Verdict = v
	switch v {
	case vote.Yes:
		r.Verdict.Yes = 5
	case vote.No:
		r.Verdict.No = 5
	}
	return r
}

func failed(id string, truth dialogue.Truth) evaluation.Record {
	return evaluation.Record{ID: id, Truth: truth, TextHash: "text of " + id, Failure: &evaluation.Failure{Stage: "compose", Code: "broken", Message: "m"}}
}

// table adds dialogues of one truth: right in both, in the first alone, in the
// second alone, in neither.
func table(first, second *[]evaluation.Record, truth dialogue.Truth, both, onlyFirst, onlySecond, neither int) {
	right, wrong := vote.Yes, vote.No
	if truth == dialogue.No {
		right, wrong = wrong, right
	}
	add := func(n int, a, b vote.Verdict) {
		for range n {
			id := fmt.Sprintf("%s-%04d", truth, len(*first))
			*first, *second = append(*first, judged(id, truth, a)), append(*second, judged(id, truth, b))
		}
	}
	add(both, right, right)
	add(onlyFirst, right, wrong)
	add(onlySecond, wrong, right)
	add(neither, wrong, wrong)
}

func near(t *testing.T, what string, got score.Figure, want, tolerance float64) {
	t.Helper()
	if !got.Defined || math.Abs(got.Value-want) > tolerance {
		t.Errorf("%s is %+v, want %v", what, got, want)
	}
}

// The figures against published ones: the two examples of the intervals of paired
// differences are taken as the two truths.
func TestFigures(t *testing.T) {
	var a, b []evaluation.Record
	table(&a, &b, dialogue.Yes, 36, 2, 12, 0) // R. G. Newcombe 1998, method 10, its signs turned: +0.2, 0.0569 to 0.3404
	table(&a, &b, dialogue.No, 59, 16, 6, 80) // R, package contingencytables: -0.0621, -0.1186 to -0.0046
	got, err := compare.Build([]report.Report{evaluated(t, "a", nil, a...), evaluated(t, "b", nil, b...)})
	if err != nil {
		t.Fatal(err)
	}
	d := got.Differences[0]
	near(t, "recall", d.Recall.Difference, 0.2, 1e-12)
	near(t, "low", d.Recall.Low, 0.0569, 5e-5)
	near(t, "high", d.Recall.High, 0.3404, 5e-5)
	near(t, "specificity", d.Specificity.Difference, -0.0621, 5e-5)
	near(t, "low", d.Specificity.Low, -0.1186, 5e-5)
	near(t, "high", d.Specificity.High, -0.0046, 5e-5)
	near(t, "balanced accuracy", d.BalancedAccuracy.Difference, (0.2-10.0/161)/2, 1e-12)
	if d.Recall.Gained != 12 || d.Recall.Lost != 2 || d.Recall.N != 50 || d.Specificity.Lost != 16 {
		t.Errorf("%+v", d)
	}
	// 2 (1 + 14 + 91) / 2^14, and Fagerland, Lydersen, Laake 2013: complete response.
	near(t, "p, truth YES", got.Tests[0].P, 212.0/16384, 1e-12)
	near(t, "p, truth NO", got.Tests[1].P, 0.0525, 5e-5)
	near(t, "Holm, truth YES", got.Tests[0].Holm, 424.0/16384, 1e-12)
	near(t, "Holm, truth NO", got.Tests[1].Holm, got.Tests[1].P.Value, 0)
	if got.Paired != 211 || len(got.Flips) != 36 || len(got.Settings) != 0 || got.Evaluations[1].SameClips != 211 {
		t.Errorf("%d paired, %d flips, settings %v, %+v", got.Paired, len(got.Flips), got.Settings, got.Evaluations[1])
	}
}

// Each way in which dialogues are not comparable, all at once.
func TestLeftOut(t *testing.T) {
	other := judged("text", dialogue.Yes, vote.Yes)
	other.TextHash = "changed"
	a := evaluated(t, "a", func(in *report.Input) { in.Seen = detect.Seen{IDs: []string{"seen"}} },
		judged("both", dialogue.Yes, vote.Yes), judged("only-a", dialogue.Yes, vote.Yes), judged("text", dialogue.Yes, vote.Yes),
		judged("truth", dialogue.Yes, vote.Yes), judged("seen", dialogue.No, vote.No), judged("shown", dialogue.No, vote.No),
		judged("unlabelled", dialogue.Unknown, vote.Yes), failed("failed", dialogue.Yes), judged("open", dialogue.No, vote.Unresolved))
	b := evaluated(t, "b", func(in *report.Input) {
		in.Manifest.Items++
		in.Manifest.Exemplars = []evaluation.Excluded{{ID: "shown", Reason: "exemplar"}}
	},
		judged("both", dialogue.Yes, vote.Yes), other, judged("truth", dialogue.No, vote.Yes), judged("seen", dialogue.No, vote.No),
		judged("unlabelled", dialogue.Unknown, vote.No), judged("failed", dialogue.Yes, vote.Yes), judged("open", dialogue.No, vote.No), judged("only-b", dialogue.No, vote.No))
	got, err := compare.Build([]report.Report{a, b})
	if err != nil {
		t.Fatal(err)
	}
	want := []evaluation.Excluded{
		{ID: "only-a", Reason: "not in b, which is not finished"},
		{ID: "only-b", Reason: "not in a"},
		{ID: "seen", Reason: "seen by the detector of a"},
		{ID: "shown", Reason: "left out of b"},
		{ID: "text", Reason: "another text in b"},
		{ID: "truth", Reason: "truth YES in a, NO in b"},
	}
	if diff := cmp.Diff(want, got.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if got.Paired != 4 || got.Unlabelled != 1 || got.Evaluations[0].Failed != 1 || got.Evaluations[0].Seen != 1 || got.Evaluations[1].Pending != 1 {
		t.Errorf("%d paired, %d unlabelled, %+v", got.Paired, got.Unlabelled, got.Evaluations)
	}
	// Failed and UNRESOLVED dialogues are in no difference, and in both bounds.
	recall, specificity := got.Differences[0].Recall, got.Differences[0].Specificity
	if recall.N != 1 || recall.Open != 1 || specificity.N != 0 || specificity.Open != 1 || specificity.Difference.Defined {
		t.Errorf("recall %+v, specificity %+v", recall, specificity)
	}
	near(t, "lowest", recall.Lowest, 0, 0)
	near(t, "highest", recall.Highest, 0.5, 0)
	var flipped []string
	for _, f := range got.Flips {
		flipped = append(flipped, fmt.Sprintf("%s %s %s", f.ID, f.Outcomes[0].Verdict, f.Outcomes[1].Verdict))
	}
	if diff := cmp.Diff([]string{"failed failed YES", "open UNRESOLVED NO", "unlabelled YES NO"}, flipped); diff != "" {
		t.Errorf("flips (-want +got):\n%s", diff)
	}
	if _, err := got.Check(compare.Limit{Metric: score.MetricRecall}); err == nil || !strings.Contains(err.Error(), "evaluation b is not finished, 1 of 9") {
		t.Errorf("a check of what is not finished: %v", err)
	}
}

func TestRefused(t *testing.T) {
	a := evaluated(t, "a", nil, judged("1", dialogue.Yes, vote.Yes))
	relabelled := evaluated(t, "b", nil, judged("1", dialogue.No, vote.Yes))
	others := evaluated(t, "c", nil, judged("2", dialogue.Yes, vote.Yes))
	empty := evaluated(t, "d", nil)
	for _, test := range []struct {
		reports []report.Report
		want    string
	}{
		{[]report.Report{a}, "two evaluations or more"},
		{[]report.Report{a, a}, `"a" is named twice`},
		{[]report.Report{a, relabelled}, "1 truth YES in a, NO in b"},
		{[]report.Report{a, others}, "1 not in a; 1 not in c"},
		{[]report.Report{empty, evaluated(t, "e", nil)}, "none of them has a record yet"},
	} {
		if _, err := compare.Build(test.reports); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
}

// Three evaluations: four tests are adjusted together, all figures are of the
// dialogues of all three.
func TestThree(t *testing.T) {
	var a, b []evaluation.Record
	table(&a, &b, dialogue.Yes, 3, 6, 0, 1)
	table(&a, &b, dialogue.No, 5, 0, 5, 0)
	c := b[1:]
	got, err := compare.Build([]report.Report{evaluated(t, "a", nil, a...), evaluated(t, "b", nil, b...), evaluated(t, "c", func(in *report.Input) {
		in.Manifest.Spec.Detection.Detector = "other"
		in.Engines.Detector.Fingerprint = "g"
		in.Facts = []detect.Fact{{Name: "context", Value: "4096"}}
	}, c...)})
	if err != nil {
		t.Fatal(err)
	}
	if got.Paired != 19 || len(got.Differences) != 2 || got.Differences[0].Recall.N != 9 || len(got.Tests) != 4 {
		t.Fatalf("%d paired, %+v", got.Paired, got.Differences)
	}
	near(t, "p", got.Tests[0].P, 2.0/64, 1e-12)
	near(t, "the smallest of four", got.Tests[0].Holm, 4*2.0/64, 1e-12)
	var names []string
	for _, s := range got.Settings {
		names = append(names, s.Name+": "+strings.Join(s.Values, "|"))
	}
	want := []string{"engines.detector.fingerprint: f|f|g", "server.context: ||4096", "spec.detection.detector: d|d|other"}
	for _, w := range want {
		if !strings.Contains(strings.Join(names, "\n"), w) {
			t.Errorf("%q is not among %q", w, names)
		}
	}
}

// All forms hold what matters, and nothing that acts.
func TestForms(t *testing.T) {
	yes := judged(hostile, dialogue.Yes, vote.Yes)
	yes.Judgement.Tactic = &vote.TacticOutcome{Tactic: tactic.Intimidation}
	yes.Evidence = &evaluation.EvidenceRecord{Quote: vote.Quote{Text: "you will regret it " + hostile}}
	a := evaluated(t, "a", func(in *report.Input) { in.Manifest.Spec.Note = "note " + hostile }, yes, judged("2", dialogue.No, vote.No))
	b := evaluated(t, "b", func(in *report.Input) { in.Manifest.Spec.Detection.ModelName = "model " + hostile }, judged(hostile, dialogue.Yes, vote.No), judged("2", dialogue.No, vote.No))
	got, err := compare.Build([]report.Report{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := got.Check(compare.Limit{Metric: score.MetricRecall, Allowed: 0.1}); err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]struct {
		write func(*bytes.Buffer) error
		want  []string
	}{
		"text": {func(b *bytes.Buffer) error { return compare.WriteText(b, got) }, []string{"b against a", "Intimidation", "you will regret it", "NO, 0:5", "spec.detection.model_name", "no regression shown: recall went from 1.000 to 0.000"}},
		"html": {func(b *bytes.Buffer) error { return compare.WriteHTML(b, got) }, []string{"b against a", "Intimidation", "you will regret it", "&lt;script&gt;", "no regression shown"}},
		"json": {func(b *bytes.Buffer) error { return compare.WriteJSON(b, got) }, []string{compare.Schema, `"checks"`, "you will regret it"}},
	} {
		var out bytes.Buffer
		if err := form.write(&out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range form.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, out.String())
			}
		}
		if name != "html" && strings.Contains(out.String(), "\x1b") || name == "html" && strings.Contains(out.String(), "<script>") {
			t.Errorf("%s: not escaped:\n%s", name, out.String())
		}
		if name == "json" && !json.Valid(out.Bytes()) {
			t.Error("no JSON")
		}
	}
}

func TestCheck(t *testing.T) {
	var a, b []evaluation.Record
	table(&a, &b, dialogue.Yes, 0, 3, 0, 0)
	table(&a, &b, dialogue.No, 3, 0, 0, 0)
	got, err := compare.Build([]report.Report{evaluated(t, "a", nil, a...), evaluated(t, "b", nil, b...)})
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[string]string{
		"recall:0":         "REGRESSION: recall went from 1.000 to 0.000 (n = 3, 0 open as not right): lost 1.000, with 95% confidence at least 0.329, allowed 0; the smallest loss it could have shown is 0.667",
		"recall:0.5":       "no regression shown: recall went from 1.000 to 0.000 (n = 3, 0 open as not right): lost 1.000, with 95% confidence at least 0.329, allowed 0.5; with these pairs no loss could have been shown",
		"specificity:0.05": "no regression shown: specificity went from 1.000 to 1.000 (n = 3, 0 open as not right): lost 0.000, with 95% confidence at least -0.474, allowed 0.05; the smallest loss it could have shown is 1.000",
	} {
		l, err := compare.ParseLimit(limit)
		if err != nil {
			t.Fatal(err)
		}
		loss, err := got.Check(l)
		if err != nil {
			t.Fatal(err)
		}
		if s := loss.Sentence(); s != want {
			t.Errorf("%s:\n%s\nwant\n%s", limit, s, want)
		}
	}
	if len(got.Checks) != 3 {
		t.Errorf("%d checks", len(got.Checks))
	}
	for _, wrong := range []string{"", "recall", "recall:", "f1:0.1", "recall:1", "recall:-0.1", "recall:NaN", "recall:5%"} {
		if l, err := compare.ParseLimit(wrong); err == nil {
			t.Errorf("%q is %+v", wrong, l)
		}
	}
}

func FuzzParseLimit(f *testing.F) {
	for _, s := range []string{"recall:0.05", "accuracy:1e-3", "recall:NaN", ":", "balanced_accuracy:0x1p-4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := compare.ParseLimit(s)
		if err == nil && !(l.Allowed >= 0 && l.Allowed < 1) {
			t.Errorf("%q is %+v", s, l)
		}
	})
}
