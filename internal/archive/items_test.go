package archive_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
)

func TestItems(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	created, _, err := a.Create(t.Context(), manifest("e"), chunks("1", "2"))
	if err != nil {
		t.Fatal(err)
	}
	items, err := a.Items(t.Context(), created)
	if diff := cmp.Diff([]evaluation.Item{{ID: "1"}, {ID: "1b"}, {ID: "2"}, {ID: "2b"}}, items); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestDialogues(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	lines, slices, err := a.PutDataset(t.Context(), dialogues())
	if err != nil {
		t.Fatal(err)
	}
	// In the items' order, whatever that of the lines.
	items := []evaluation.Item{{ID: "4", Line: slices[2]}, {ID: "1", Line: slices[0]}}
	got, err := a.Dialogues(t.Context(), lines, items)
	if err != nil {
		t.Fatal(err)
	}
	all := dialogues()
	if diff := cmp.Diff(all[2].Turns, got[0].Turns); diff != "" || got[1].ID != "1" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, test := range map[string]struct {
		line evaluation.Slice
		want error
	}{
		"another hash":   {evaluation.Slice{Offset: slices[0].Offset, Length: slices[0].Length, SHA256: slices[1].SHA256}, objectstore.ErrCorrupt},
		"beyond the end": {evaluation.Slice{Offset: 1 << 40, Length: 1}, objectstore.ErrRange},
		"before it":      {evaluation.Slice{Offset: -1, Length: 1}, nil},
		"too long":       {evaluation.Slice{Offset: 1, Length: 1<<63 - 1}, nil},
	} {
		if _, err := a.Dialogues(t.Context(), lines, []evaluation.Item{{ID: "1", Line: test.line}}); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
}

// The clips and timelines of an evaluation that judges them again are used before it
// has a record of them.
func TestGarbageOfClipsJudgedAgain(t *testing.T) {
	g := newAged(t)
	lines, places, err := g.PutDataset(t.Context(), dialogues())
	if err != nil {
		t.Fatal(err)
	}
	m := manifest("again")
	m.Spec.Dataset = evaluation.Dataset{Lines: lines, Clips: true, From: "deleted"}
	item := evaluation.Item{ID: "1", Line: places[0], Clip: objectstore.Ref{Key: "clips/a.wav"}, Timeline: objectstore.Ref{Key: "clips/a.json"}}
	if _, _, err := g.Create(t.Context(), m, []evaluation.Chunk{{Items: []evaluation.Item{item}}}); err != nil {
		t.Fatal(err)
	}
	put(t, g.Archive, evaluation.EnginesKey("again"), evaluation.Engines{})
	for _, key := range []string{"clips/a.wav", "clips/a.json", "clips/b.wav"} {
		g.raw(t, key)
	}
	g.now = noon.Add(2 * week)
	if diff := cmp.Diff([]string{"clips/b.wav"}, keysOf(g.find(t))); diff != "" {
		t.Errorf("garbage (-want +got):\n%s", diff)
	}
}
