package archive_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

const week = 7 * 24 * time.Hour

// aged is a store with a clock, and one evaluation that has begun.
type aged struct {
	archive.Archive
	store *mem.Store
	now   time.Time
}

func newAged(t *testing.T) *aged {
	t.Helper()
	g := &aged{store: mem.New(), now: noon}
	g.store.Now = func() time.Time { return g.now }
	g.Store = g.store
	g.evaluation(t, "e")
	put(t, g.Archive, evaluation.EnginesKey("e"), evaluation.Engines{})
	return g
}

// evaluation stores the beginning of one that judges the first dialogue as text.
func (g *aged) evaluation(t *testing.T, id string) {
	t.Helper()
	lines, places, err := g.PutDataset(t.Context(), dialogues())
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(id)
	m.Spec.Dataset.Lines, m.Spec.Detection.Modality = lines, detect.Text
	if _, _, err := g.Create(t.Context(), m, []evaluation.Chunk{{Items: []evaluation.Item{{ID: "1", Line: places[0]}}}}); err != nil {
		t.Fatal(err)
	}
}

func (g *aged) collector() archive.Collector {
	return archive.Collector{Archive: g.Archive, Now: func() time.Time { return g.now }, OlderThan: week}
}

func (g *aged) find(t *testing.T) archive.Garbage {
	t.Helper()
	found, err := g.collector().Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func keysOf(g archive.Garbage) (keys []string) {
	for _, entry := range g.Objects {
		keys = append(keys, entry.Key)
	}
	return keys
}

func (g *aged) raw(t *testing.T, key string) {
	t.Helper()
	if _, err := objectstore.PutBytes(t.Context(), g.store, key, []byte("x"), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestGarbage(t *testing.T) {
	g := newAged(t)
	own := evaluation.Question{Modality: detect.Text, Input: dialogues()[0].TextHash()}
	foreign := evaluation.Question{Modality: detect.Text, Input: "another text"}
	for key, q := range map[string]evaluation.Question{
		"passes/own.json":     own,
		"passes/other.json":   {Detector: detect.Identity{Detector: "another"}, Input: own.Input},
		"passes/fresh.json":   {Input: own.Input, Fresh: "e"},
		"passes/gone.json":    {Input: own.Input, Fresh: "deleted"},
		"passes/foreign.json": foreign,
	} {
		put(t, g.Archive, key, evaluation.StoredPass{Question: q})
	}
	g.raw(t, "passes/unreadable.json")
	g.raw(t, evaluation.PreparedKey(own))
	for _, key := range []string{
		"turns/a.wav", "clips/a.wav", "clips/source-a.mp3", "transcripts/a.json", "quality/a.json", "prepared/a.json", "models/a.json", "datasets/a.jsonl",
		"chunks/a.json", "diagnosis/a.json", "claims/turns/a.wav/0000000001", "sensitivity/a.json", "others/a", "evaluations/half/engines.json",
	} {
		g.raw(t, key)
	}
	// A record refers to what nobody could work out.
	r := record("1", vote.Yes)
	r.Clip = objectstore.Ref{Key: "clips/kept.wav", SHA256: "c"}
	if _, err := g.PutRecord(t.Context(), 0, r); err != nil {
		t.Fatal(err)
	}
	g.raw(t, "clips/kept.wav")
	put(t, g.Archive, "sensitivity/b.json", evaluation.Sensitivity{Items: []evaluation.SensitivityItem{{Transcript: objectstore.Ref{Key: "transcripts/asked.json"}}}})
	g.raw(t, "transcripts/asked.json")

	if found := g.find(t); len(found.Objects) != 0 {
		t.Errorf("at once: %q", keysOf(found))
	}
	g.now = noon.Add(week)
	if found := g.find(t); len(found.Objects) != 0 {
		t.Errorf("after a week to the second: %q", keysOf(found))
	}
	g.now = noon.Add(week + time.Second)
	found := g.find(t)
	want := []string{
		"turns/a.wav", "clips/a.wav", "clips/source-a.mp3", "transcripts/a.json", "quality/a.json", "prepared/a.json",
		"passes/foreign.json", "passes/gone.json", "chunks/a.json", "datasets/a.jsonl", "models/a.json", "diagnosis/a.json", "claims/turns/a.wav/0000000001",
	}
	if diff := cmp.Diff(want, keysOf(found)); diff != "" || len(found.Kept) != 0 {
		t.Fatalf("kept %q, garbage (-want +got):\n%s", found.Kept, diff)
	}

	// What is written again meanwhile stays; nothing else that isn't listed goes.
	g.raw(t, "turns/a.wav")
	before := g.count(t)
	gone, err := g.collector().Delete(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[1:], keysOf(gone)); diff != "" || g.count(t) != before-len(want)+1 {
		t.Errorf("%d objects of %d are left, deleted (-want +got):\n%s", g.count(t), before, diff)
	}
	if left := g.find(t); len(left.Objects) != 0 {
		t.Errorf("afterwards: %q", keysOf(left))
	}
}

func (g *aged) count(t *testing.T) (n int) {
	t.Helper()
	for _, err := range g.store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// An evaluation that hasn't begun may use anything; one that has ended may not.
func TestGarbageOfUnbegun(t *testing.T) {
	g := newAged(t)
	g.evaluation(t, "unbegun")
	g.raw(t, "turns/a.wav")
	g.raw(t, "datasets/a.jsonl")
	g.now = noon.Add(2 * week)
	found := g.find(t)
	if diff := cmp.Diff([]string{"datasets/a.jsonl"}, keysOf(found)); diff != "" {
		t.Errorf("garbage (-want +got):\n%s", diff)
	}
	if len(found.Kept) != 1 || !strings.Contains(found.Kept[0], "evaluation unbegun has not begun") {
		t.Errorf("kept %q", found.Kept)
	}
	put(t, g.Archive, evaluation.ReportKey("unbegun", "report.json"), map[string]int{})
	if diff := cmp.Diff([]string{"turns/a.wav", "datasets/a.jsonl"}, keysOf(g.find(t))); diff != "" {
		t.Errorf("once it has ended (-want +got):\n%s", diff)
	}
}

// A starter that finds an old dataset writes it anew, so that it isn't deleted before
// its manifest is there; then the manifest stops the deletion.
func TestGarbageBecomesUsed(t *testing.T) {
	g := newAged(t)
	other := dialogues()[1:]
	lines, _, err := g.PutDataset(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	g.now = noon.Add(2 * week)
	found := g.find(t)
	if diff := cmp.Diff([]string{lines.Key}, keysOf(found)); diff != "" {
		t.Fatalf("garbage (-want +got):\n%s", diff)
	}
	if _, _, err := g.PutDataset(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if gone, err := g.collector().Delete(t.Context(), found); err != nil || len(gone.Objects) != 0 {
		t.Errorf("deleted %q, %v", keysOf(gone), err)
	}
	g.evaluation(t, "new")
	if gone, err := g.collector().Delete(t.Context(), found); err == nil || !strings.Contains(err.Error(), `evaluation "new" has begun`) || len(gone.Objects) != 0 {
		t.Errorf("deleted %q, %v", keysOf(gone), err)
	}
}

// Where it isn't known what an evaluation refers to, nothing is garbage.
func TestGarbageNeedsEverything(t *testing.T) {
	g := newAged(t)
	g.raw(t, "turns/a.wav")
	g.now = noon.Add(2 * week)
	g.store.Damage(evaluation.EnginesKey("e"))
	if _, err := g.collector().Find(t.Context()); err == nil || !strings.Contains(err.Error(), "evaluations/e/engines.json") {
		t.Errorf("error %v", err)
	}
	young := g.collector()
	young.OlderThan = time.Hour
	if _, err := young.Find(t.Context()); fault.KindOf(err) != fault.Permanent {
		t.Errorf("an hour: %v", err)
	}
}

// uploading is a store with broken-off uploads.
type uploading struct {
	*mem.Store
	uploads []objectstore.Upload
	aborted []string
}

func (u *uploading) Uploads(context.Context) iter.Seq2[objectstore.Upload, error] {
	return func(yield func(objectstore.Upload, error) bool) {
		for _, upload := range u.uploads {
			if !yield(upload, nil) {
				return
			}
		}
	}
}

func (u *uploading) AbortUpload(_ context.Context, upload objectstore.Upload) error {
	u.aborted = append(u.aborted, upload.ID)
	return nil
}

func TestGarbageUploads(t *testing.T) {
	g := newAged(t)
	store := &uploading{Store: g.store, uploads: []objectstore.Upload{{Key: "k", ID: "old", Began: noon}, {Key: "k", ID: "young", Began: noon.Add(week)}}}
	g.Store = store
	g.now = noon.Add(week + time.Hour)
	if _, err := g.collector().Delete(t.Context(), g.find(t)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"old"}, store.aborted); diff != "" {
		t.Errorf("aborted (-want +got):\n%s", diff)
	}
}

// What every casting of a dialogue uses is kept, and what none does is not.
func TestGarbageOfCastings(t *testing.T) {
	g := newAged(t)
	pool, err := voice.BuiltIn("flite")
	if err != nil {
		t.Fatal(err)
	}
	lines, places, err := g.PutDataset(t.Context(), dialogues())
	if err != nil {
		t.Fatal(err)
	}
	m := manifest("twice")
	m.Spec.Dataset.Lines, m.Spec.Detection.Modality = lines, detect.Audio
	m.Spec.Speech = evaluation.Speech{Synthesizer: "flite", Pool: pool, Castings: 2}
	items := []evaluation.Item{{ID: "1", CastingNumber: 1, Line: places[0]}, {ID: "1", CastingNumber: 2, Line: places[0]}}
	if _, _, err := g.Create(t.Context(), m, []evaluation.Chunk{{Items: items}}); err != nil {
		t.Fatal(err)
	}
	engines := evaluation.Engines{}
	put(t, g.Archive, evaluation.EnginesKey("twice"), engines)
	turnOf := func(number int) string {
		t.Helper()
		script, err := evaluation.NewScript(m.Spec.Speech, engines.Speech, dialogues()[0], number)
		if err != nil {
			t.Fatal(err)
		}
		return script.Turns[0].Key
	}
	for number := 1; number <= 3; number++ {
		g.raw(t, turnOf(number))
	}
	// Each casting's clip is its own.
	for number, hash := range []string{"first", "second"} {
		r := record("1", vote.Yes)
		r.Evaluation, r.CastingNumber, r.Clip = "twice", number+1, objectstore.Ref{Key: "clips/" + hash + ".wav", SHA256: hash}
		if _, err := g.PutRecord(t.Context(), 0, r); err != nil {
			t.Fatal(err)
		}
		g.raw(t, r.Clip.Key)
		g.raw(t, evaluation.TranscriptKey(engines.Recognizer, hash)) // no record names it
	}
	g.raw(t, evaluation.TranscriptKey(engines.Recognizer, "third"))
	g.now = noon.Add(2 * week)
	found := keysOf(g.find(t))
	slices.Sort(found)
	want := []string{evaluation.TranscriptKey(engines.Recognizer, "third"), turnOf(3)}
	slices.Sort(want)
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("garbage (-want +got):\n%s", diff)
	}
}
