package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/vote"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func dialogues() []dialogue.Dialogue {
	turns := func(texts ...string) (turns []dialogue.Turn) {
		for _, text := range texts {
			turns = append(turns, dialogue.Turn{Speaker: "Person1", Text: text})
		}
		return turns
	}
	return []dialogue.Dialogue{
		{ID: "1", Turns: turns("You never listen."), Truth: dialogue.Yes},
		{ID: "2/3", Turns: turns("Caf\u00e9 \u201cquoted\u201d", "a \\ b", ""), Truth: dialogue.No},
		{ID: "4", Turns: turns("No truth is known.")},
	}
}

func TestDataset(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	lines, slices, err := a.PutDataset(t.Context(), dialogues())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range dialogues() {
		got, err := a.Dialogue(t.Context(), lines, evaluation.Item{ID: want.ID, Line: slices[i]})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dialogue %q (-want +got):\n%s", want.ID, diff)
		}
	}
	again, _, err := a.PutDataset(t.Context(), dialogues())
	if err != nil || again != lines {
		t.Errorf("stored again: %+v, %v; want %+v", again, err, lines)
	}
	other, _, err := a.PutDataset(t.Context(), dialogues()[:2])
	if err != nil || other.Key == lines.Key {
		t.Errorf("another dataset lies under %q too: %v", other.Key, err)
	}
}

func TestDialogueFailures(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	lines, slices, err := a.PutDataset(t.Context(), dialogues())
	if err != nil {
		t.Fatal(err)
	}
	item := func(change func(*evaluation.Slice)) evaluation.Item {
		i := evaluation.Item{ID: "1", Line: slices[0]}
		change(&i.Line)
		return i
	}
	for name, test := range map[string]struct {
		lines objectstore.Ref
		item  evaluation.Item
		want  error
	}{
		"another hash":      {lines, item(func(s *evaluation.Slice) { s.SHA256 = slices[1].SHA256 }), objectstore.ErrCorrupt},
		"another place":     {lines, item(func(s *evaluation.Slice) { s.Offset++ }), objectstore.ErrCorrupt},
		"cut":               {lines, item(func(s *evaluation.Slice) { s.Length-- }), objectstore.ErrCorrupt},
		"beyond the end":    {lines, item(func(s *evaluation.Slice) { s.Offset += 1 << 20 }), objectstore.ErrRange},
		"no such dataset":   {objectstore.Ref{Key: "datasets/none.jsonl"}, item(func(*evaluation.Slice) {}), objectstore.ErrNotFound},
		"another dataset's": {lines, evaluation.Item{ID: "1"}, nil}, // no line at all
	} {
		_, err := a.Dialogue(t.Context(), test.lines, test.item)
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
}

func manifest(id string) evaluation.Manifest {
	return evaluation.Manifest{Spec: evaluation.Spec{ID: id, Rules: vote.Paper()}, Created: noon}
}

func chunks(ids ...string) []evaluation.Chunk {
	var out []evaluation.Chunk
	for _, id := range ids {
		out = append(out, evaluation.Chunk{Items: []evaluation.Item{{ID: id}, {ID: id + "b"}}})
	}
	return out
}

func TestCreate(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	created, ref, err := a.Create(t.Context(), manifest("e"), chunks("1", "2"))
	if err != nil {
		t.Fatal(err)
	}
	if created.Items != 4 || len(created.Chunks) != 2 || ref.Key != evaluation.ManifestKey("e") {
		t.Errorf("%d items, %d chunks under %q", created.Items, len(created.Chunks), ref.Key)
	}
	chunk, err := objectstore.GetJSON[evaluation.Chunk](t.Context(), a.Store, created.Chunks[1])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(chunks("2")[0], chunk); diff != "" {
		t.Errorf("second chunk (-want +got):\n%s", diff)
	}
	read, again, err := a.Manifest(t.Context(), "e")
	if err != nil || again != ref {
		t.Fatalf("read under %+v, %v; want %+v", again, err, ref)
	}
	if diff := cmp.Diff(created, read); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	if _, _, err := a.Manifest(t.Context(), "f"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("an evaluation that isn't there: %v", err)
	}
}

// Sixteen starters with one id: one of them has it, and its manifest and chunks
// are what is stored.
func TestCreateRace(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	type result struct {
		manifest evaluation.Manifest
		err      error
	}
	results := make([]result, 16)
	var starters sync.WaitGroup
	for i := range results {
		starters.Go(func() {
			m := manifest("e")
			m.Created = m.Created.Add(time.Duration(i)) // as two starters are never as quick as one nanosecond
			results[i].manifest, _, results[i].err = a.Create(t.Context(), m, chunks(fmt.Sprint(i)))
		})
	}
	starters.Wait()

	var winners []evaluation.Manifest
	for _, r := range results {
		switch {
		case r.err == nil:
			winners = append(winners, r.manifest)
		case !errors.Is(r.err, archive.ErrUsed):
			t.Errorf("a loser is told %v", r.err)
		}
	}
	if len(winners) != 1 {
		t.Fatalf("%d starters have the id, want 1", len(winners))
	}
	stored, _, err := a.Manifest(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(winners[0], stored); diff != "" {
		t.Errorf("what is stored is not the winner's (-winner +stored):\n%s", diff)
	}
	if _, err := objectstore.GetJSON[evaluation.Chunk](t.Context(), a.Store, stored.Chunks[0]); err != nil {
		t.Error(err)
	}
}

func TestEngines(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	engines, seen, err := a.Engines(t.Context(), "e")
	if err != nil || engines.Detector != (detect.Identity{}) || seen.IDs != nil {
		t.Errorf("before there are any: %+v, %+v, %v", engines, seen, err)
	}
	ref := put(t, a, evaluation.SeenKey("e"), detect.Seen{IDs: []string{"1"}})
	put(t, a, evaluation.EnginesKey("e"), evaluation.Engines{Detector: detect.Identity{Detector: "d"}, Seen: ref})
	engines, seen, err = a.Engines(t.Context(), "e")
	if err != nil || engines.Detector.Detector != "d" || !slices.Equal(seen.IDs, []string{"1"}) {
		t.Errorf("stored ones: %+v, %+v, %v", engines, seen, err)
	}
}

func put(t *testing.T, a archive.Archive, key string, value any) objectstore.Ref {
	t.Helper()
	ref, err := objectstore.PutJSON(t.Context(), a.Store, key, value, objectstore.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestList(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	for _, id := range []string{"b", "a", "a-b", "c"} {
		if _, _, err := a.Create(t.Context(), manifest(id), chunks("1")); err != nil {
			t.Fatal(err)
		}
	}
	// Others' files are no evaluations.
	put(t, a, "evaluations/d/engines.json", 1)
	put(t, a, "evaluations/d/x/manifest.json", 1)
	put(t, a, "datasets/manifest.json", 1)
	ids, err := a.List(t.Context())
	slices.Sort(ids) // keys sort "a-b/" before "a/"
	if err != nil || !slices.Equal(ids, []string{"a", "a-b", "b", "c"}) {
		t.Errorf("evaluations %q, %v", ids, err)
	}
}

func TestPutModel(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	ref, err := a.PutModel(t.Context(), []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := objectstore.Bytes(t.Context(), a.Store, ref)
	if err != nil || !bytes.Equal(data, []byte("{}")) || ref.Key != evaluation.ModelKey(ref.SHA256) {
		t.Errorf("model %q under %q, %v", data, ref.Key, err)
	}
}

func record(id string, verdict vote.Verdict) evaluation.Record {
	return evaluation.Record{Evaluation: "e", ID: id, Truth: dialogue.Yes, Judgement: evaluation.Judgement{Verdict: vote.Outcome{Verdict: verdict}}}
}

func TestRecords(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	m, _, err := a.Create(t.Context(), manifest("e"), chunks("1", "2", "3"))
	if err != nil {
		t.Fatal(err)
	}
	save := func(chunk int, r evaluation.Record) objectstore.Ref {
		t.Helper()
		ref, err := a.PutRecord(t.Context(), chunk, r)
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	first := save(0, record("1", vote.Yes))
	save(0, record("1b", vote.No))
	save(1, record("2", vote.Unresolved))
	if again := save(0, record("1", vote.No)); again != first {
		t.Errorf("the second record of a dialogue is %+v, want the first %+v", again, first)
	}
	if _, err := a.PutShard(t.Context(), "e", 0); err != nil {
		t.Fatal(err)
	}
	// From here on the shard counts for chunk 0; chunk 1 has loose records; chunk 2
	// has none.
	if err := a.Store.Delete(t.Context(), first.Key); err != nil {
		t.Fatal(err)
	}
	records, err := a.Records(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	want := []evaluation.Record{record("1", vote.Yes), record("1b", vote.No), record("2", vote.Unresolved)}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if n, err := a.CountRecords(t.Context(), "e"); err != nil || n != 2 { // loose ones
		t.Errorf("%d records counted, %v", n, err)
	}

	if _, err := objectstore.PutBytes(t.Context(), a.Store, evaluation.ShardKey("e", 0), []byte("{}\n{"), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Records(t.Context(), m); err == nil {
		t.Error("a broken shard reads without an error")
	}
}

func TestReport(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	if _, _, err := a.Create(t.Context(), manifest("e"), chunks("1")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.PutRecord(t.Context(), 0, record("1", vote.Yes)); err != nil {
		t.Fatal(err)
	}
	built, err := a.Report(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	if built.Items != 2 || built.Pending != 1 || built.N != 1 {
		t.Errorf("%d items, %d pending, n %d", built.Items, built.Pending, built.N)
	}
	ref, err := a.PutReport(t.Context(), "e", built)
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range report.Files() {
		stored, err := a.Store.Stat(t.Context(), evaluation.ReportKey("e", file.Name))
		if err != nil || i == 0 && stored != ref {
			t.Errorf("%s: %+v, %v", file.Name, stored, err)
		}
	}
	if _, err := a.Report(t.Context(), "f"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("a report of nothing: %v", err)
	}
}
