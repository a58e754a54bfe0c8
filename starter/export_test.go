package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/export"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// exportable is a stored evaluation of three dialogues; the clip of the third is gone.
func exportable(t *testing.T) archive.Archive {
	t.Helper()
	store := archive.Archive{Store: mem.New()}
	dialogues := []dialogue.Dialogue{
		{ID: "../a", Truth: dialogue.Yes, Turns: []dialogue.Turn{{Speaker: "Person1", Text: "You owe me."}, {Speaker: "Person2", Text: "I don't."}}},
		{ID: "b", Truth: dialogue.No, Turns: []dialogue.Turn{{Speaker: "Person1", Text: "Tea?"}}},
		{ID: "c", Truth: dialogue.No, Turns: []dialogue.Turn{{Speaker: "Person1", Text: "Rain."}}},
	}
	lines, slices, err := store.PutDataset(t.Context(), dialogues)
	if err != nil {
		t.Fatal(err)
	}
	var items []evaluation.Item
	for i, d := range dialogues {
		items = append(items, evaluation.Item{ID: d.ID, Line: slices[i]})
	}
	m := evaluation.Manifest{Spec: evaluation.Spec{ID: "e", Dataset: evaluation.Dataset{Name: "mine.csv", Lines: lines}, Rules: vote.Paper()}}
	if _, _, err := store.Create(t.Context(), m, []evaluation.Chunk{{Items: items}}); err != nil {
		t.Fatal(err)
	}
	for i, d := range dialogues {
		clip, err := objectstore.PutBytes(t.Context(), store.Store, "clips/"+d.ID[len(d.ID)-1:]+".wav", bytes.Repeat([]byte{byte(i)}, 1000), objectstore.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		timeline, err := objectstore.PutJSON(t.Context(), store.Store, "clips/"+d.ID[len(d.ID)-1:]+".json",
			audio.Timeline{Synthetic: true, Seconds: 2, Turns: []audio.TurnSpan{{Turn: 0, Voice: "v1", End: 1}}}, objectstore.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := evaluation.Record{
			Evaluation: "e", ID: d.ID, Truth: d.Truth, TextHash: d.TextHash(), Clip: clip, Timeline: timeline,
			Judgement: evaluation.Judgement{Verdict: vote.Outcome{Verdict: vote.Yes, Yes: 5}},
		}
		if _, err := store.PutRecord(t.Context(), 0, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Store.Delete(t.Context(), "clips/c.wav"); err != nil {
		t.Fatal(err)
	}
	return store
}

// exportSet prepares what exportable has.
func exportSet(t *testing.T, store archive.Archive, format export.Format) (export.Set, *exportSource) {
	t.Helper()
	from, built, err := readExport(t.Context(), store, "e")
	if err != nil {
		t.Fatal(err)
	}
	gone, err := from.gone(t.Context(), built)
	if err != nil {
		t.Fatal(err)
	}
	set, err := export.NewSet(built, export.Options{Format: format, Rights: "mine", ShardBytes: export.MinShardBytes}, gone)
	if err != nil {
		t.Fatal(err)
	}
	return set, from
}

func TestExportToFolder(t *testing.T) {
	store := exportable(t)
	set, from := exportSet(t, store, export.TextGrid)
	dir := filepath.Join(t.TempDir(), "new", "folder [1]*")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// What a process that was killed leaves.
	if err := os.WriteFile(filepath.Join(dir, partialFile+"123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		sink, err := openFolderSink(dir)
		if err != nil {
			t.Fatal(err)
		}
		var out, errOut bytes.Buffer
		a := &app{out: &out, err: &errOut}
		if err := a.writeExport(t.Context(), sink, set, from, dir); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != "exported 2 dialogues to "+dir+" (textgrid)\n" {
			t.Errorf("says %q", got)
		}
		if got := errOut.String(); got != "left out: 1, which left_out.jsonl names with the reasons\n" {
			t.Errorf("says %q", got)
		}
	}
	want := "README.md SHA256SUMS clips/=2e=2e=2fa.TextGrid clips/=2e=2e=2fa.wav clips/b.TextGrid clips/b.wav export.json left_out.jsonl metadata.jsonl"
	if got := strings.Join(filesBelow(t, dir), " "); got != want {
		t.Errorf("has %s", got)
	}
	info, err := os.Stat(filepath.Join(dir, "clips", "b.wav"))
	if err != nil || info.Mode().Perm() != 0o644 || info.Size() != 1000 {
		t.Errorf("clip: %v, %v", info, err)
	}
}

// filesBelow lists the files below a folder, sorted, hidden ones too.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files = append(files, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestExportLeavesFoldersOfOthersAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openFolderSink(dir); err == nil || !strings.Contains(err.Error(), "holds other things") {
		t.Errorf("a folder of others: %v", err)
	}
	store := mem.New()
	if _, err := objectstore.PutBytes(t.Context(), store, "exports/a/thesis.tex", nil, objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := newBucketSink(t.Context(), store, "exports/a/"); err == nil || !strings.Contains(err.Error(), "holds other things") {
		t.Errorf("a prefix of others: %v", err)
	}
}

func TestExportToBucket(t *testing.T) {
	store := exportable(t)
	for _, format := range export.Formats() {
		set, from := exportSet(t, store, format)
		dir, target := t.TempDir(), mem.New()
		folder, err := openFolderSink(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := export.Write(t.Context(), folder, set, from, func(int) {}); err != nil {
			t.Fatal(err)
		}
		// The first try is cancelled after its first dialogue.
		ctx, cancel := context.WithCancel(t.Context())
		bucket, err := newBucketSink(ctx, target, "p/q/")
		if err != nil {
			t.Fatal(err)
		}
		if err := export.Write(ctx, bucket, set, from, func(int) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: cancelled: %v", format, err)
		}
		if bucket, err = newBucketSink(t.Context(), target, "p/q/"); err != nil {
			t.Fatal(err)
		}
		if err := export.Write(t.Context(), bucket, set, from, func(int) {}); err != nil {
			t.Fatal(err)
		}
		for _, name := range filesBelow(t, dir) {
			want, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := objectstore.Bytes(t.Context(), target, objectstore.Ref{Key: "p/q/" + name})
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s differs: %v", format, name, err)
			}
		}
	}
}

// An object that another tool wrote has no hash beside it: it is read.
func TestBucketSinkReadsWhatHasNoHash(t *testing.T) {
	store := mem.New()
	if _, err := objectstore.PutBytes(t.Context(), store, "p/a", []byte("abc"), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	sum, there, err := bucketSink{store: hashless{store}, prefix: "p/"}.Stat(t.Context(), "a")
	if want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; sum != want || !there || err != nil {
		t.Errorf("hash %q, %v, %v", sum, there, err)
	}
	if _, there, err := (bucketSink{store: store, prefix: "p/"}).Stat(t.Context(), "b"); there || err != nil {
		t.Errorf("nothing is there: %v, %v", there, err)
	}
}

// hashless is a store whose objects came from elsewhere.
type hashless struct{ objectstore.Store }

func (h hashless) Stat(ctx context.Context, key string) (objectstore.Ref, error) {
	ref, err := h.Store.Stat(ctx, key)
	ref.SHA256 = ""
	return ref, err
}

func (h hashless) Open(ctx context.Context, ref objectstore.Ref) (io.ReadCloser, error) {
	return h.Store.Open(ctx, ref)
}
