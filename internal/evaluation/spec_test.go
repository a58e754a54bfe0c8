package evaluation

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func validSpec() Spec {
	return Spec{
		ID:         "e",
		Dataset:    Dataset{Name: "mentalmanip_con.csv", Lines: objectstore.Ref{Key: "datasets/a.jsonl", SHA256: "a", Size: 1}},
		Speech:     Speech{Synthesizer: "flite", Pool: voice.Pool{Name: "p", Synthesizer: "flite", Voices: []voice.Voice{v1}}, CastingSeed: 1, Seed: 2},
		Compose:    audio.DefaultComposeOptions(),
		Recognizer: "pocketsphinx",
		Detection: Detection{
			Detector: "baseline-cascade", ModelName: "model.json", Modality: detect.Audio,
			Accelerator: "cpu", Pool: "baseline", Seed: 3, Passes: PassesReuse,
		},
		Rules:            vote.Paper(),
		Quality:          DefaultQuality(),
		Limits:           DefaultLimits(),
		SearchAttributes: true,
	}
}

func TestSpecValidate(t *testing.T) {
	if err := validSpec().Validate(); err != nil {
		t.Fatalf("a valid spec: %v", err)
	}
	for _, test := range []struct {
		name   string
		change func(*Spec)
		want   string
	}{
		{"id", func(s *Spec) { s.ID = "../e" }, "evaluation id"},
		{"compose", func(s *Spec) { s.Compose.Rate = 1 }, "compose rate"},
		{"rules", func(s *Spec) { s.Rules.Passes = 0 }, "passes"},
		{"pool", func(s *Spec) { s.Speech.Pool.Voices = nil }, "no voices"},
		{"another synthesizer's pool", func(s *Spec) { s.Speech.Synthesizer = "rhvoice" }, `for synthesizer "flite", not "rhvoice"`},
		{"modality", func(s *Spec) { s.Detection.Modality = "video" }, "use audio, text, asr or both"},
		{"passes", func(s *Spec) { s.Detection.Passes = "" }, "use reuse or fresh"},
		{"chunk size", func(s *Spec) { s.Limits.ChunkSize = 0 }, "chunk_size is 0"},
		{"chunk size", func(s *Spec) { s.Limits.ChunkSize = MaxChunk + 1 }, "at most 200"},
		{"chunks", func(s *Spec) { s.Limits.Chunks = -1 }, "chunks is -1"},
		{"dialogues", func(s *Spec) { s.Limits.Dialogues = 0 }, "dialogues is 0"},
		{"accelerator", func(s *Spec) { s.Detection.Accelerator = "" }, "name a queue"},
		{"pool's queue", func(s *Spec) { s.Detection.Pool = "a/b" }, `"a/b"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := validSpec()
			test.change(&s)
			if err := s.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	t.Run("everything at once", func(t *testing.T) {
		err := Spec{}.Validate()
		if err == nil {
			t.Fatal("an empty spec is valid")
		}
		for _, want := range []string{"evaluation id", "compose version", "rules", "voice pool", "modality", "passes", "chunk_size", "chunks", "dialogues", "queue"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q leaves out %q", err, want)
			}
		}
	})
	t.Run("clips need no speech", func(t *testing.T) {
		s := validSpec()
		s.Dataset.Clips, s.Speech = true, Speech{}
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	})
}

func TestSpecAttributes(t *testing.T) {
	s := validSpec()
	s.Dataset.Name, s.Detection.ModelName = "my data.csv", "a b"
	want := map[string]string{
		"Evaluation": "e", "Dataset": "my=20data", "Detector": "baseline-cascade", "Model": "a=20b", "Modality": "audio",
	}
	if diff := cmp.Diff(want, s.Attributes()); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	for name := range s.Attributes() {
		if !slices.Contains(SearchAttributes(), name) {
			t.Errorf("the namespace isn't told of %s", name)
		}
	}
}

// What Temporal must be able to read of a private evaluation has no text from outside.
func TestPrivateSpecAttributes(t *testing.T) {
	s := validSpec()
	s.Private, s.Dataset.Name, s.Detection.ModelName = true, "my data.csv", "a b"
	want := map[string]string{"Evaluation": "e", "Detector": "baseline-cascade", "Modality": "audio"}
	if diff := cmp.Diff(want, s.Attributes()); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	named, aliased := Item{ID: "my id"}, Item{ID: "my id", Alias: "000007"}
	if named.Name() != "my id" || aliased.Name() != "000007" {
		t.Errorf("names %q and %q", named.Name(), aliased.Name())
	}
}

// What is stored reads back as it was, so that a report can be built from it
// years later.
func TestManifestRoundTrip(t *testing.T) {
	want := Manifest{
		Spec:      validSpec(),
		Created:   time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC),
		Items:     2,
		Chunks:    []objectstore.Ref{{Key: "chunks/a.json", SHA256: "a", Size: 1}},
		Exemplars: []Excluded{{ID: "1", Reason: "exemplar"}},
	}
	if diff := cmp.Diff(want, roundTrip(t, want)); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	task := Task{Evaluation: "e", Chunk: 3, Item: Item{ID: "1", Line: Slice{Offset: 5, Length: 7, SHA256: "b"}, Clip: objectstore.Ref{Key: "clips/c"}}}
	if diff := cmp.Diff(task, roundTrip(t, task)); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
}

func TestRecordRoundTrip(t *testing.T) {
	want := Record{
		Evaluation: "e", ID: "1", Truth: "YES", TextHash: "h", Turns: 2, Wordless: 1,
		Casting: voice.Casting{{Speaker: "Person1", Voice: "v1"}},
		Judgement: Judgement{
			Passes:   []PassRecord{{Pass: vote.Pass{Index: 1, Vote: vote.VoteYes, Method: vote.Constrained}, Seed: 9, PYes: vote.Mass{P: 5, Observed: true}}},
			Swapped:  &SwappedRecord{Straight: vote.Outcome{Verdict: vote.Yes, Yes: 5}, Verdict: vote.Outcome{Verdict: vote.Yes, Yes: 4, No: 1}},
			Verdict:  vote.Outcome{Verdict: vote.Yes, Yes: 5},
			Evidence: &EvidenceRecord{Quote: vote.Quote{Text: "<words> & \u201cmore\u201d"}, Start: 0.5, End: 1, Attempts: 2},
		},
		Text:    &Judgement{Analytic: &AnalyticRecord{Choice: detect.Choice{Yes: 7, Method: "m"}, Majority: 8}, Verdict: vote.Outcome{Verdict: vote.No}},
		Quality: &ClipQuality{WER: 0.25, WERIsSet: true, Reference: 8, Turns: []TurnPitch{{Turn: 0, Voice: "v1", F0: 120.5}}},
		Usage:   Usage{TurnsMade: 1, PassesStored: 6},
	}
	if diff := cmp.Diff(want, roundTrip(t, want)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func roundTrip[T any](t *testing.T, value T) T {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func TestCountsAdd(t *testing.T) {
	one := Counts{1, 2, 3, 4, 5, 6, Usage{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}
	sum := one
	sum.Add(one)
	if want := (Counts{2, 4, 6, 8, 10, 12, Usage{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}}); sum != want {
		t.Errorf("sum %+v, want %+v", sum, want)
	}
}
