package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
)

func asked(t *testing.T, flags ...string) *request {
	t.Helper()
	r := &request{lookup: func(string) (string, bool) { return "", false }}
	cmd := &cobra.Command{}
	r.flags(cmd)
	if err := cmd.ParseFlags(append([]string{"--id", "e"}, flags...)); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCastingsInThePlan(t *testing.T) {
	for flags, want := range map[string]int{"--limit 1": 0, "--limit 1 --castings 1": 0, "--limit 1 --castings 6": 6} {
		p, err := asked(t, strings.Fields(flags)...).plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := p.spec.Speech.Castings; got != want {
			t.Errorf("%s: %d castings, want %d", flags, got, want)
		}
	}
	pool := filepath.Join(t.TempDir(), "pool.toml")
	if err := os.WriteFile(pool, []byte("name = 'tiny'\nsynthesizer = 'flite'\n[[voices]]\nslug = 'a'\nparams = { voice = 'slt' }\n[[voices]]\nslug = 'b'\nparams = { voice = 'rms' }\n[[voices]]\nslug = 'c'\nparams = { voice = 'kal' }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[string]string{
		"--castings 0":                          "--castings 0: must be at least 1",
		"--castings 2 --clips nowhere":          "the clips are spoken already",
		"--castings 2 --modality text":          "a text has no voice",
		"--castings 2 --modality both":          "a text has no voice",
		"--castings 3 --voices " + pool:         `has 2 speakers, for whom voice pool "tiny" has 2 castings (3 voices`,
		"--castings 7 --synthesizer flite":      "has 6 castings",
		"--castings 7 --synthesizer elevenlabs": "use fewer castings, a pool with more voices",
	} {
		_, err := asked(t, strings.Fields(flags)...).plan(t.Context())
		var usage usageError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &usage) {
			t.Errorf("%s: %v, want the usage error %q", flags, err, want)
		}
	}
}

// What is stored names every casting of a dialogue as an item, one after the other,
// and each is expected to cost as much.
func TestCastingsAreItems(t *testing.T) {
	p, err := asked(t, "--limit", "2", "--castings", "2", "--max-calls", "1000").plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store := archive.Archive{Store: mem.New()}
	a := &app{out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	m, _, err := a.store(t.Context(), nil, store, p)
	if err != nil {
		t.Fatal(err)
	}
	items, err := store.Items(t.Context(), m)
	if err != nil || m.Items != 4 || len(items) != 4 {
		t.Fatalf("%d items, %d stored, %v", m.Items, len(items), err)
	}
	for i, item := range items {
		if item.ID != p.dialogues[i/2].ID || item.CastingNumber != i%2+1 {
			t.Errorf("item %d is %q in casting %d", i, item.ID, item.CastingNumber)
		}
		if want := evaluation.Estimate(p.spec, p.dialogues[i/2]); item.Estimate != want {
			t.Errorf("item %d is estimated at %+v, want %+v", i, item.Estimate, want)
		}
	}
	if got, want := m.Spec.Counted(m.Items), "4 items (2 castings a dialogue)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Judging again keeps the castings that have a clip, and reads each dialogue once.
func TestReevaluateCastings(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	lines, places, err := a.PutDataset(t.Context(), []dialogue.Dialogue{{ID: "x", Turns: []dialogue.Turn{{Speaker: "A", Text: "I am x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	spec := baseSpec()
	spec.Dataset.Lines, spec.Speech.Castings = lines, 3
	spec.Detection.Detector, spec.Detection.Strategy, spec.Detection.OptionOrder, spec.Detection.Model = "chat", "zero-shot", "ab", objectstore.Ref{}
	s := source{Source: archive.Source{Manifest: evaluation.Manifest{Spec: spec, Items: 3}}}
	clip := objectstore.Ref{Key: "clips/1.wav"}
	for number := 1; number <= 3; number++ {
		s.Items = append(s.Items, evaluation.Item{ID: "x", CastingNumber: number, Line: places[0]})
		s.Records = append(s.Records, evaluation.Record{ID: "x", CastingNumber: number, Clip: clip})
	}
	s.Records[1].Clip, s.Records[1].Failure = objectstore.Ref{}, &evaluation.Failure{Code: "voice"}
	p, items, err := parsed(t).plan(t.Context(), a, s)
	if err != nil {
		t.Fatal(err)
	}
	want := []evaluation.Item{{ID: "x", CastingNumber: 1, Line: places[0], Clip: clip}, {ID: "x", CastingNumber: 3, Line: places[0], Clip: clip}}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if len(p.dialogues) != 1 || len(p.notes) != 1 || !strings.Contains(p.notes[0], `left out: "x" (casting 2), no clip`) {
		t.Errorf("%d dialogues, notes %q", len(p.dialogues), p.notes)
	}
	if _, _, err := parsed(t, "--modality", "text").plan(t.Context(), a, s); err == nil || !strings.Contains(err.Error(), "a text has no voice") {
		t.Errorf("castings by their text: %v", err)
	}
}

// Sensitivity asks about a dialogue once, in a casting that was judged.
func TestSensitivityTakesOneCasting(t *testing.T) {
	broken := &evaluation.Failure{Code: "x"}
	got := firstCastings([]evaluation.Record{
		{ID: "a", CastingNumber: 1}, {ID: "a", CastingNumber: 2}, {ID: "b", CastingNumber: 1, Failure: broken}, {ID: "b", CastingNumber: 2}, {ID: "c", Failure: broken},
	})
	want := []evaluation.Record{{ID: "a", CastingNumber: 1}, {ID: "b", CastingNumber: 2}, {ID: "c", Failure: broken}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A page plays every casting's own clip beside its own times.
func TestBundleOfCastings(t *testing.T) {
	store := archive.Archive{Store: mem.New()}
	lines, places, err := store.PutDataset(t.Context(), []dialogue.Dialogue{{ID: "x", Truth: dialogue.Yes, Turns: []dialogue.Turn{{Speaker: "A", Text: "You owe me."}}}})
	if err != nil {
		t.Fatal(err)
	}
	m := evaluation.Manifest{Spec: baseSpec(), Items: 2}
	m.Spec.ID, m.Spec.Dataset.Lines, m.Spec.Speech.Castings = "e", lines, 2
	if _, _, err := store.Create(t.Context(), m, []evaluation.Chunk{{Items: []evaluation.Item{{ID: "x", CastingNumber: 1, Line: places[0]}, {ID: "x", CastingNumber: 2, Line: places[0]}}}}); err != nil {
		t.Fatal(err)
	}
	for number := 1; number <= 2; number++ {
		name := evaluation.FileName("clip", number)
		clip, err := objectstore.PutBytes(t.Context(), store.Store, "clips/"+name+".wav", []byte(name), objectstore.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		timeline, err := objectstore.PutJSON(t.Context(), store.Store, "clips/"+name+".json", audio.Timeline{Turns: []audio.TurnSpan{{Start: 1, End: float64(number) + 0.5}}}, objectstore.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.PutRecord(t.Context(), 0, evaluation.Record{Evaluation: "e", ID: "x", CastingNumber: number, Truth: dialogue.Yes, Clip: clip, Timeline: timeline}); err != nil {
			t.Fatal(err)
		}
	}
	built, err := store.Report(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	folder, gone, err := writeBundle(t.Context(), store, t.TempDir(), built)
	if err != nil || gone != 0 {
		t.Fatalf("%d gone, %v", gone, err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`src="clips/x=c1.wav"`, `src="clips/x=c2.wav"`, `data-to="1.5"`, `data-to="2.5"`, "x (casting 1)", "x (casting 2)"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(string(page), "You owe me."); n != 2 {
		t.Errorf("the turn stands %d times, want once a casting", n)
	}
	for number := 1; number <= 2; number++ {
		data, err := os.ReadFile(filepath.Join(folder, "clips", evaluation.FileName("x", number)+".wav"))
		if want := evaluation.FileName("clip", number); err != nil || string(data) != want {
			t.Errorf("clip %d is %q, %v", number, data, err)
		}
	}
}
