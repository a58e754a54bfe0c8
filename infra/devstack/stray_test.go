package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSweepStrays(t *testing.T) {
	keep := []string{
		".vgwlocks/00ff/a1",
		"bucket/.sgwtmp/multipart/ab/upload/1", // parts of an upload that can go on
		"bucket/a/.b.sgwtmp.twelve",            // no number
		"bucket/a/.hidden",
		"bucket/a/b.sgwtmp.12", // no leading dot
		"bucket/a/b.txt",
	}
	remove := []string{
		"bucket/.sgwtmp/0a1b.123",
		"bucket/a/.b.txt.sgwtmp.1764000000000000000",
		"bucket/.top.sgwtmp.1",
	}
	root := t.TempDir()
	for _, name := range slices.Concat(keep, remove) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, "x")
	}
	n, err := sweepStrays(root)
	if err != nil || n != len(remove) {
		t.Errorf("swept %d files (%v), want %d", n, err, len(remove))
	}
	var left []string
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(root, path)
			left = append(left, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(left); !slices.Equal(left, keep) {
		t.Errorf("left %q, want %q", left, keep)
	}
}
