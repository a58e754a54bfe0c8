package archive_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// A report reads what the detector found out, and what was shown: copies of it,
// by text or by rendered clip, are left out.
func TestReportOfRealDetector(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	all := dialogues()
	lines, places, err := a.PutDataset(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	m := manifest("e")
	m.Spec.Dataset.Lines = lines
	m.Shown = []evaluation.Exemplar{{Item: evaluation.Item{ID: all[0].ID, Line: places[0]}, Exemplar: vote.Exemplar{ID: all[0].ID, Vote: vote.VoteYes}}}
	if _, _, err := a.Create(t.Context(), m, chunks("8", "9")); err != nil {
		t.Fatal(err)
	}
	sameText, sameClip := record("8", vote.Yes), record("9", vote.Yes)
	sameText.TextHash = all[0].TextHash()
	sameClip.Clip = objectstore.Ref{Key: "clips/rendered.wav", SHA256: "rendered"}
	for chunk, r := range []evaluation.Record{sameText, sameClip} {
		if _, err := a.PutRecord(t.Context(), chunk, r); err != nil {
			t.Fatal(err)
		}
	}
	before, err := a.Report(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]evaluation.Excluded{{ID: "8", Reason: "same text as an exemplar"}}, before.Exemplars); diff != "" {
		t.Errorf("before the exemplars are rendered (-want +got):\n%s", diff)
	}

	rendered := []evaluation.Exemplar{m.Shown[0]}
	rendered[0].Item.Clip = objectstore.Ref{Key: "clips/rendered.wav", SHA256: "rendered"}
	facts := []detect.Fact{{Name: "dialect", Value: "vllm"}}
	engines := evaluation.Engines{Facts: putJSON(t, a, "facts", facts), Exemplars: putJSON(t, a, "exemplars", rendered)}
	putJSON(t, a, evaluation.EnginesKey("e"), engines)
	after, err := a.Report(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]evaluation.Excluded{
		{ID: "8", Reason: "same text as an exemplar"}, {ID: "9", Reason: "same clip as an exemplar"},
	}, after.Exemplars); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(facts, after.Server); diff != "" || len(after.Shown) != 1 || after.Shown[0].ID != all[0].ID {
		t.Errorf("shown %+v; server (-want +got):\n%s", after.Shown, diff)
	}
}

func putJSON(t *testing.T, a archive.Archive, key string, value any) objectstore.Ref {
	t.Helper()
	ref, err := objectstore.PutJSON(t.Context(), a.Store, key, value, objectstore.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}
