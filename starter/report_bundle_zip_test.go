package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// An archive has what a folder has, below one folder, and the same bytes every time.
func TestBundleAsZip(t *testing.T) {
	store, built := bundled(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "report.ZIP")
	at, gone, err := writeBundle(t.Context(), store, path, built)
	if err != nil || at != path || gone != 1 {
		t.Fatalf("%q, %d clips gone, %v", at, gone, err)
	}
	folder, _, err := writeBundle(t.Context(), store, dir, built)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	got, want := map[string]string{}, map[string]string{}
	for _, f := range archive.File {
		body, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(body) // checks the sum
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		body.Close()
		got[f.Name] = string(data)
		if !strings.HasPrefix(f.Name, "e/") || strings.Contains(f.Name, "..") || strings.Contains(f.Name, `\`) {
			t.Errorf("an unsafe name: %q", f.Name)
		}
	}
	if err := filepath.WalkDir(folder, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		name, _ := filepath.Rel(dir, file)
		want[filepath.ToSlash(name)] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || got["e/clips/"+evaluation.EncodeID("../a")+".wav"] != "RIFF" {
		t.Errorf("(-folder +zip):\n%s", diff)
	}

	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := writeBundle(t.Context(), store, path, built); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(path); err != nil || !bytes.Equal(first, second) {
		t.Errorf("the second archive differs, %v", err)
	}

	// A clip that is damaged makes no archive, and leaves the one that is there.
	if _, err := store.Store.Put(t.Context(), "clips/1.wav", strings.NewReader("WAVE"), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := writeBundle(t.Context(), store, path, built); err == nil {
		t.Error("a damaged clip went into an archive")
	}
	if second, err := os.ReadFile(path); err != nil || !bytes.Equal(first, second) {
		t.Errorf("the archive before is gone: %v", err)
	}
}

// What a store says a clip is called doesn't choose the file's name.
func TestClipNames(t *testing.T) {
	_, built := bundled(t)
	d := built.Dialogues[0]
	for key, want := range map[string]string{
		"clips/a.wav": "=2E.=2Fa.wav", "clips/source-a.mp3": "=2E.=2Fa.mp3", "clips/a.flac": "=2E.=2Fa.flac", "clips/a.exe": "=2E.=2Fa", "clips/a.w/av": "=2E.=2Fa",
	} {
		d.Clip.Key = key
		if got := clipName(d); got != want {
			t.Errorf("%s is called %q, want %q", key, got, want)
		}
	}
}
