package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// What the flags name is read and added to a report.
func TestAdditions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	votes := write("votes.csv", "item,modality,annotator,label\n1,audio,A,YES\n1,audio,B,YES\n2,audio,A,YES\n2,text,A,NO\n")
	labels := write("labels.csv", "ID,Dialogue,Manipulative,Technique,Vulnerability\n1,Person1: Hello.,0,,\n2,Person1: Bye.,0,,\n")
	in := report.Input{Manifest: evaluation.Manifest{Spec: evaluation.Spec{ID: "e", Rules: vote.Paper()}, Items: 2}}
	in.Manifest.Spec.Detection.Modality = "audio"
	for id, verdict := range map[string]vote.Verdict{"1": vote.Yes, "2": vote.No} {
		r := evaluation.Record{Evaluation: "e", ID: id, Truth: dialogue.Truth(verdict)}
		r.Verdict.Verdict = verdict
		in.Records = append(in.Records, r)
	}
	built, err := report.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	a := &app{in: strings.NewReader("")}
	add, err := a.readAdditions(additions{
		annotations: []string{votes}, prevalences: []string{"1:9"},
		truths: []string{"labels=" + labels, "audio-consensus=" + votes, "text-consensus=" + votes},
	})
	if err != nil {
		t.Fatal(err)
	}
	add(&built)
	if len(built.People) != 2 || built.People[1].Compared != 2 || built.People[1].Agree.Hits != 1 {
		t.Errorf("people: %+v", built.People)
	}
	if p := built.AtPrevalence; len(p) != 2 || p[1].Prevalence.Stated != "1:9" {
		t.Errorf("at prevalence: %+v", p)
	}
	if len(built.Truths) != 1 || len(built.Truths[0].Sets) != 4 {
		t.Fatalf("truths: %+v", built.Truths)
	}
	for i, want := range []struct {
		name    string
		decided int
	}{{"dataset", 2}, {"labels", 2}, {"audio-consensus", 2}, {"text-consensus", 1}} {
		if s := built.Truths[0].Sets[i]; s.Name != want.name || s.Own.Decided != want.decided {
			t.Errorf("set %d: %s decides %d, want %s and %d", i, s.Name, s.Own.Decided, want.name, want.decided)
		}
	}
	if d := built.Truths[0].Disagreements; len(d) != 2 || d[1].Votes[2] != "1:0" {
		t.Errorf("disagreements: %+v", d)
	}
}
