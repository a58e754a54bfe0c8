package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// bundled stores an evaluation of two dialogues: one has a clip, the other's is gone.
func bundled(t *testing.T) (archive.Archive, report.Report) {
	t.Helper()
	store := archive.Archive{Store: mem.New()}
	put := func(key, body string) objectstore.Ref {
		t.Helper()
		ref, err := objectstore.PutBytes(t.Context(), store.Store, key, []byte(body), objectstore.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	lines, slices, err := store.PutDataset(t.Context(), []dialogue.Dialogue{
		{ID: "../a", Truth: dialogue.Yes, Turns: []dialogue.Turn{{Speaker: "Person1", Text: "You owe me."}, {Speaker: "Person2", Text: "I don't."}}},
		{ID: "b", Truth: dialogue.No, Turns: []dialogue.Turn{{Speaker: "Person1", Text: "Tea?"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := evaluation.Manifest{Spec: evaluation.Spec{ID: "e", Dataset: evaluation.Dataset{Lines: lines}, Rules: vote.Paper()}, Items: 2}
	if _, _, err := store.Create(t.Context(), m, []evaluation.Chunk{{Items: []evaluation.Item{{ID: "../a", Line: slices[0]}, {ID: "b", Line: slices[1]}}}}); err != nil {
		t.Fatal(err)
	}
	timeline, err := objectstore.PutJSON(t.Context(), store.Store, "clips/1.json",
		audio.Timeline{Turns: []audio.TurnSpan{{Turn: 0, Start: 0, End: 1.5}, {Turn: 1, Start: 1.7, End: 2.5}, {Turn: 7}}}, objectstore.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	quoted := evaluation.Judgement{Verdict: vote.Outcome{Verdict: vote.Yes}, Evidence: &evaluation.EvidenceRecord{Quote: vote.Quote{Text: "you owe me"}}}
	for _, r := range []evaluation.Record{
		{Evaluation: "e", ID: "../a", Truth: dialogue.Yes, Clip: put("clips/1.wav", "RIFF"), Timeline: timeline, Judgement: quoted},
		{Evaluation: "e", ID: "b", Truth: dialogue.No, Clip: objectstore.Ref{Key: "clips/gone.wav", SHA256: "0", Size: 4}, Judgement: evaluation.Judgement{Verdict: vote.Outcome{Verdict: vote.No}}},
	} {
		if _, err := store.PutRecord(t.Context(), 0, r); err != nil {
			t.Fatal(err)
		}
	}
	built, err := store.Report(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	return store, built
}

func TestBundle(t *testing.T) {
	store, built := bundled(t)
	dir := t.TempDir()
	folder, gone, err := writeBundle(t.Context(), store, dir, built)
	if err != nil || gone != 1 {
		t.Fatalf("%d clips gone, want 1; %v", gone, err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	name := "clips/" + evaluation.EncodeID("../a") + ".wav"
	for _, want := range []string{
		`src="` + name + `"`, "<mark>You owe me</mark>.", `data-from="1.7" data-to="2.5"`, "Tea?", "media-src",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	clip := filepath.Join(folder, filepath.FromSlash(name))
	if data, err := os.ReadFile(clip); string(data) != "RIFF" {
		t.Errorf("the clip has %q, %v", data, err)
	}
	// A second time nothing is fetched that is there.
	if err := store.Store.Delete(t.Context(), "clips/1.wav"); err != nil {
		t.Fatal(err)
	}
	if _, gone, err := writeBundle(t.Context(), store, dir, built); err != nil || gone != 1 {
		t.Errorf("again: %d gone, %v", gone, err)
	}
	// One of another size is not the clip.
	if err := os.WriteFile(clip, []byte("RI"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, gone, err := writeBundle(t.Context(), store, dir, built); err != nil || gone != 2 {
		t.Errorf("after damage: %d gone, want 2; %v", gone, err)
	}
}
