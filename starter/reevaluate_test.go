package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// parsed are the flags of one command line.
func parsed(t *testing.T, flags ...string) *again {
	t.Helper()
	a := &app{out: &bytes.Buffer{}, err: &bytes.Buffer{}, lookup: func(string) (string, bool) { return "", false }}
	cmd := a.reevaluateCommand()
	r := &again{request: request{lookup: a.lookup}, source: "base"}
	cmd.ResetFlags()
	r.register(cmd)
	if err := cmd.ParseFlags(flags); err != nil {
		t.Fatal(err)
	}
	r.given = cmd.Flags().Changed
	if r.id == "" {
		r.id = "new"
	}
	if err := r.check(); err != nil {
		t.Fatal(err)
	}
	return r
}

func baseSpec() evaluation.Spec {
	rules := vote.Paper()
	rules.Votes = vote.VotesAnalytic
	return evaluation.Spec{
		ID: "base", Note: "note", Dataset: evaluation.Dataset{Name: "set"}, Compose: audio.DefaultComposeOptions(),
		Detection: evaluation.Detection{
			Detector: "baseline-cascade", Model: objectstore.Ref{Key: "models/1.json"}, ModelName: "one", Modality: detect.Audio,
			Accelerator: "cpu", Pool: "baseline", Seed: 7, Passes: evaluation.PassesReuse,
		},
		Rules: rules, Limits: evaluation.Limits{ChunkSize: 3, Chunks: 1, Dialogues: 2, Failures: 5}, Budget: evaluation.Budget{Calls: 9}, SearchAttributes: true,
	}
}

// What isn't given stays as it was; what is given changes that alone.
func TestReevaluateChanges(t *testing.T) {
	chat := func(s *evaluation.Spec) {
		d := &s.Detection
		d.Detector, d.Model, d.ModelName, d.Strategy, d.OptionOrder = "chat", objectstore.Ref{}, "", "zero-shot", "ab"
	}
	for _, test := range []struct {
		name  string
		from  func(*evaluation.Spec)
		flags string
		want  func(*evaluation.Spec)
	}{
		{"nothing", nil, "", func(*evaluation.Spec) {}},
		{"another baseline keeps the model", nil, "--detector baseline-duration", func(s *evaluation.Spec) { s.Detection.Detector = "baseline-duration" }},
		{"chat instead of a baseline", nil, "--detector chat --pool p", func(s *evaluation.Spec) { chat(s); s.Detection.Pool = "p" }},
		{"a baseline instead of chat", func(s *evaluation.Spec) { chat(s); s.Detection.ModelName = "m" }, "--detector baseline-majority", func(s *evaluation.Spec) {
			s.Detection.Detector, s.Detection.Model, s.Detection.ModelName = "baseline-majority", objectstore.Ref{}, ""
		}},
		{"another prompt", chat, "--prompt few-shot --option-order both", func(s *evaluation.Spec) { chat(s); s.Detection.Strategy, s.Detection.OptionOrder = "few-shot", "both" }},
		{"other rules keep the draw of votes", nil, "--rules released", func(s *evaluation.Spec) {
			s.Rules = vote.Released()
			s.Rules.Votes, s.Rules.TacticDraw = vote.VotesAnalytic, vote.Paper().TacticDraw
		}},
		{"numbers", nil, "--seed 0 --max-failures 0 --priority 1 --dialogues 9 --max-calls 3", func(s *evaluation.Spec) {
			s.Detection.Seed, s.Limits.Failures, s.Limits.Priority, s.Limits.Dialogues, s.Budget.Calls = 0, 0, 1, 9, 3
		}},
		{"switches", nil, "--quality off --search-attributes off --passes reuse --modality both --votes early-stop", func(s *evaluation.Spec) {
			s.Quality.Off, s.SearchAttributes, s.Detection.Passes, s.Detection.Modality, s.Rules.Votes = true, false, evaluation.PassesReuse, evaluation.Both, vote.VotesEarlyStop
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, want := baseSpec(), baseSpec()
			if test.from != nil {
				test.from(&got)
			}
			want.ID, want.Dataset.Clips, want.Dataset.From, want.Budget, want.Detection.Passes = "new", true, "base", evaluation.Budget{}, evaluation.PassesFresh
			test.want(&want)
			if err := parsed(t, strings.Fields(test.flags)...).change(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	spec := baseSpec()
	if err := parsed(t, "--option-order", "ba").change(&spec); err == nil || !strings.Contains(err.Error(), "reads no prompt") {
		t.Errorf("an option order of a baseline: %v", err)
	}
}

// The plan has the clips of the records, leaves out what has none, and what the new
// rules may show.
func TestReevaluatePlan(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	rules := vote.Released()
	var dialogues []dialogue.Dialogue
	for _, id := range []string{"failed", "kept", rules.ExemplarIDs[0]} {
		dialogues = append(dialogues, dialogue.Dialogue{ID: id, Truth: dialogue.Yes, Turns: []dialogue.Turn{{Speaker: "Person1", Text: "I am " + id}}})
	}
	lines, places, err := a.PutDataset(t.Context(), dialogues)
	if err != nil {
		t.Fatal(err)
	}
	spec := baseSpec()
	spec.Dataset.Lines, spec.Detection.Detector, spec.Detection.Strategy, spec.Detection.OptionOrder, spec.Detection.Model = lines, "chat", "zero-shot", "ab", objectstore.Ref{}
	s := source{Source: archive.Source{Manifest: evaluation.Manifest{Spec: spec, Items: 3, Exemplars: []evaluation.Excluded{{ID: "earlier", Reason: "exemplar"}}}}}
	for i, d := range dialogues {
		s.Items = append(s.Items, evaluation.Item{ID: d.ID, Line: places[i]})
	}
	clip, timeline := objectstore.Ref{Key: "clips/1.wav"}, objectstore.Ref{Key: "clips/1.json"}
	s.Records = []evaluation.Record{
		{ID: "failed", Failure: &evaluation.Failure{Code: "voice"}}, {ID: "kept", Clip: clip, Timeline: timeline}, {ID: rules.ExemplarIDs[0], Clip: clip},
	}
	p, items, err := parsed(t, "--rules", "released").plan(t.Context(), a, s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]evaluation.Item{{ID: "kept", Line: places[1], Clip: clip, Timeline: timeline}}, items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	want := []evaluation.Excluded{{ID: "earlier", Reason: "exemplar"}, {ID: "failed", Reason: "no clip: it failed (voice)"}, {ID: rules.ExemplarIDs[0], Reason: "exemplar"}}
	if diff := cmp.Diff(want, p.excluded); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if len(p.notes) != 1 || !strings.Contains(p.notes[0], `left out: "failed", no clip: it failed (voice)`) {
		t.Errorf("notes %q", p.notes)
	}
	if _, _, err := parsed(t, "--prompt", "few-shot").plan(t.Context(), a, s); err == nil || !strings.Contains(err.Error(), `evaluation "base" showed 0 exemplars`) {
		t.Errorf("exemplars that nobody has: %v", err)
	}
	s.Records = nil
	if _, _, err := parsed(t).plan(t.Context(), a, s); err == nil || !strings.Contains(err.Error(), "all 3 dialogues of \"base\" are left out") {
		t.Errorf("without any clip: %v", err)
	}
}
