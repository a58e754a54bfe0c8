package report_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// study is one of audio, a string of votes an item, one annotator a letter.
func study(votes map[string]string) annotation.Set {
	set := annotation.Set{Items: map[annotation.Modality][]string{}}
	for _, id := range slices.Sorted(maps.Keys(votes)) {
		set.Items[annotation.Audio] = append(set.Items[annotation.Audio], id)
		for i, letter := range votes[id] {
			label := annotation.Yes
			if letter == 'N' {
				label = annotation.No
			}
			set.Annotations = append(set.Annotations, annotation.Annotation{Item: id, Modality: annotation.Audio, Annotator: string(rune('A' + i)), Label: label})
		}
	}
	return set
}

// Scored in everything(): a b e f j k and the hostile one; c is UNRESOLVED, d failed.
func TestPeople(t *testing.T) {
	r := build(t, everything())
	r.AddPeople(study(map[string]string{
		"a-found": "YYN", "b-missed": "YY", "e-clean": "N", "f-alarm": "NYNY", "j-misheard": "YYY", "c-open": "YYY", "h-seen": "YYY", "elsewhere": "Y",
	}), annotation.Rule{})
	if len(r.People) != 1 {
		t.Fatalf("%d modalities, want 1", len(r.People))
	}
	p := r.People[0]
	// f's votes are tied; k and the hostile one are not annotated, c isn't scored.
	if p.Scored != 7 || p.Annotated != 5 || p.SingleVote != 1 || p.Unresolved != 1 || p.Compared != 4 {
		t.Errorf("scored %d, annotated %d, single %d, unresolved %d, compared %d; want 7 5 1 1 4", p.Scored, p.Annotated, p.SingleVote, p.Unresolved, p.Compared)
	}
	// a YES/YES, b YES/NO, e NO/NO, j NO: people YES, detector NO.
	if p.People.Yes.Recall.Value != 1 || p.People.No.Recall.Value != 0.5 || p.Detector.Yes.Recall.Value != 0.5 || p.Detector.No.Recall.Value != 1 {
		t.Errorf("people %+v, detector %+v", p.People.Metrics, p.Detector.Metrics)
	}
	if p.Agree.Hits != 2 || p.Agree.N != 4 {
		t.Errorf("agree: %+v, want 2 of 4", p.Agree)
	}
	// Of a, b and j: a's YES votes face a tie, its NO vote two YES; b and j agree.
	if l := p.LeaveOneOut; l.Agree != 5 || l.Votes != 6 || l.Unresolved != 2 || p.DetectorAgree.N != 3 || p.DetectorAgree.Hits != 1 {
		t.Errorf("leave one out %+v, detector %+v", l, p.DetectorAgree)
	}
	if f := r.Headline.Rows[0].People; f.Defined || !strings.Contains(f.Reason, "4 of these 7") {
		t.Errorf("people in the headline: %+v", f)
	}
	lines(t, write(t, report.WriteText, r))

	// On exactly the scored items they stand in the headline.
	r = build(t, everything())
	r.AddPeople(study(map[string]string{
		"a-found": "Y", "b-missed": "Y", "e-clean": "N", "f-alarm": "N", "j-misheard": "Y", "k-shrill": "N", hostile: "N",
	}), annotation.Rule{})
	rows := r.Headline.Rows
	near(t, "people's recall", rows[0].People, 2.0/3)
	near(t, "people's specificity", rows[1].People, 0.75)
	near(t, "people's balanced accuracy", rows[2].People, (2.0/3+0.75)/2)
}

func near(t *testing.T, name string, got score.Figure, want float64) {
	t.Helper()
	if !got.Defined || got.Value < want-1e-9 || got.Value > want+1e-9 {
		t.Errorf("%s is %+v, want %v", name, got, want)
	}
}

// lines checks what every text report keeps to.
func lines(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(line) - 1; n > 100 {
			t.Errorf("%d columns, want at most 100: %s", n, line)
		}
	}
	for _, c := range text {
		if c != '\n' && !unicode.IsPrint(c) {
			t.Errorf("the text has %q, which can steer a terminal", c)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error("the text holds NaN or Inf")
	}
}

func TestTruths(t *testing.T) {
	r := build(t, everything())
	votes := study(map[string]string{
		"a-found": "NNY", "b-missed": "YY", "e-clean": "N", "f-alarm": "NY", "g-unlabelled": "YYY", "j-misheard": "NN", "h-seen": "N",
	})
	labels := []dialogue.Dialogue{{ID: "a-found", Truth: dialogue.Yes}, {ID: "b-missed", Truth: dialogue.No}, {ID: "e-clean", Truth: dialogue.No}, {ID: "k-shrill"}}
	r.AddTruths(
		report.ConsensusTruth("audio-consensus", "votes.csv", votes.Consensus(annotation.Audio, annotation.Rule{})),
		report.Labels("labels", hostile, labels),
	)
	if len(r.Truths) != 1 || len(r.Truths[0].Sets) != 3 {
		t.Fatalf("truths: %+v", r.Truths)
	}
	all := r.Truths[0]
	own, consensus, relabelled := all.Sets[0], all.Sets[1], all.Sets[2]
	if diff := cmp.Diff(r.Classification, own.Own); diff != "" {
		t.Errorf("the dataset's own labels (-headline +here):\n%s", diff)
	}
	// a NO, b YES, e NO, g YES, j NO; f is tied; c, d, k and the hostile one have no vote.
	if consensus.Own.Decided != 5 || consensus.Unresolved != 1 || consensus.Missing != 4 {
		t.Errorf("consensus: decided %d, unresolved %d, missing %d", consensus.Own.Decided, consensus.Unresolved, consensus.Missing)
	}
	near(t, "recall by the consensus", consensus.Own.Yes.Recall, 0.5)      // g of b, g
	near(t, "specificity by the consensus", consensus.Own.No.Recall, 2./3) // e, j of a, e, j
	if relabelled.Own.Decided != 3 || relabelled.Source != hostile {
		t.Errorf("relabelled: %+v", relabelled)
	}
	if all.Common != 3 || all.Same != 1 || own.OnCommon.Decided != 3 {
		t.Errorf("common %d, same %d", all.Common, all.Same)
	}
	if diff := cmp.Diff([]report.Disagreement{
		{ID: "a-found", Truths: []dialogue.Truth{dialogue.Yes, dialogue.No, dialogue.Yes}, Votes: []string{"", "1:2", ""}, Verdict: vote.Yes},
		{ID: "b-missed", Truths: []dialogue.Truth{dialogue.Yes, dialogue.Yes, dialogue.No}, Votes: []string{"", "2:0", ""}, Verdict: vote.No},
	}, all.Disagreements); diff != "" {
		t.Errorf("disagreements (-want +got):\n%s", diff)
	}
	text := write(t, report.WriteText, r)
	lines(t, text)
	if !strings.Contains(text, "a-found: dataset YES, audio-consensus NO (1:2), labels YES; called YES by audio") {
		t.Errorf("no line of a-found in\n%s", text)
	}
}

// All additions survive JSON and are in every form of both modalities.
func TestAdditions(t *testing.T) {
	r := build(t, paid())
	p, err := score.ParsePrevalence("1:9")
	if err != nil {
		t.Fatal(err)
	}
	set := table6Votes()
	for i, id := range []string{"a-agreed", "b-lost-in-audio", "e-quiet"} {
		for _, m := range []annotation.Modality{annotation.Text, annotation.Audio} {
			set.Items[m][i] = id
		}
	}
	for i := range set.Annotations {
		if at := slices.Index([]string{"item-YES-00", "item-YES-01", "item-YES-02"}, set.Annotations[i].Item); at >= 0 {
			set.Annotations[i].Item = []string{"a-agreed", "b-lost-in-audio", "e-quiet"}[at]
		}
	}
	r.Restate(p)
	r.AddPeople(set, annotation.Rule{})
	r.AddTruths(report.ConsensusTruth("text-consensus", "t.csv", set.Consensus(annotation.Text, annotation.Rule{})))
	if len(r.People) != 2 || r.People[0].Against != "text" || r.People[1].Against != "audio" || len(r.Truths) != 2 || r.Truths[1].Modality != "text" {
		t.Errorf("people %+v, truths %+v", r.People, r.Truths)
	}
	if at := r.AtPrevalence; len(at) != 2 || at[1].Prevalence.Share != 0.1 || len(r.Modalities.Text.AtPrevalence) != 2 {
		t.Errorf("at prevalence: %+v", at)
	}
	var back report.Report
	if err := json.Unmarshal([]byte(write(t, report.WriteJSON, r)), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{r.People, r.Truths, r.Measures, r.Tests}, []any{back.People, back.Truths, back.Measures, back.Tests}, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("JSON reads back (-want +got):\n%s", diff)
	}
	lines(t, write(t, report.WriteText, r))
	for name, writer := range map[string]report.Writer{"Markdown": report.WriteMarkdown, "LaTeX": report.WriteLaTeX} {
		if text := write(t, writer, r); !strings.Contains(text, "1:9") && !strings.Contains(text, `1\:9`) || !strings.Contains(text, "text, YES") {
			t.Errorf("%s lacks a table:\n%s", name, text)
		}
	}
}

// Two castings of each dialogue double the items, and not the evidence.
func TestCastingsInIntervals(t *testing.T) {
	one := report.Input{Manifest: evaluation.Manifest{Spec: everything().Manifest.Spec}}
	for i, c := range paperClips()[:260] {
		if i%2 == 0 || c.truth == dialogue.No {
			one.Records = append(one.Records, judged(c.id, c.truth, strings.Map(settle, c.pattern)))
		}
	}
	one.Manifest.Items = len(one.Records)
	two := one
	two.Records = nil
	for _, r := range one.Records {
		for _, n := range []int{1, 2} {
			r.CastingNumber = n
			two.Records = append(two.Records, r)
		}
	}
	two.Manifest.Items, two.Manifest.Spec.Speech.Castings = len(two.Records), 2
	a, b := build(t, one), build(t, two)
	if b.N != 2*a.N || a.Headline.Method != score.MethodWilson || b.Headline.Method != score.MethodBootstrap {
		t.Fatalf("n %d and %d, methods %s and %s", a.N, b.N, a.Headline.Method, b.Headline.Method)
	}
	if diff := cmp.Diff(a.AtPrevalence[0].MCC, b.AtPrevalence[0].MCC); diff != "" {
		t.Errorf("MCC (-one casting +two):\n%s", diff)
	}
	if note := b.Breakdowns[0].Note; strings.Contains(note, "one casting") {
		t.Errorf("the breakdown by voice says %q", note)
	}
	if diff := cmp.Diff(a.AUC, b.AUC); diff != "" {
		t.Errorf("AUC (-one casting +two):\n%s", diff)
	}
}
