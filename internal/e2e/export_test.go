//go:build integration && linux

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/devstacktest"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// TestExport kills an export and has it end like one that was left alone, in a folder
// and in the bucket.
func TestExport(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	r.worker(t)
	built := r.evaluate(t, "--id", "exported", "--limit", "6")

	whole := filepath.Join(t.TempDir(), "whole")
	said := r.starter(t, "export", "exported", "--format", "audiofolder", "--out", whole)
	if want := "exported 6 dialogues to " + whole + " (audiofolder)\n"; said != want {
		t.Errorf("says %q, want %q", said, want)
	}
	files := readFolder(t, whole)
	for _, d := range built.Dialogues {
		if clip := files["clips/"+d.ID+".wav"]; int64(len(clip)) != d.Clip.Size {
			t.Errorf("the clip of %s has %d bytes, want %d", d.ID, len(clip), d.Clip.Size)
		}
	}

	broken := filepath.Join(t.TempDir(), "broken")
	args := []string{"export", "exported", "--format", "audiofolder", "--out", broken}
	r.killOnce(t, filepath.Join(broken, "clips"), args...)
	r.starter(t, args...)
	same(t, files, readFolder(t, broken))

	// The rights of the sample and of these voices are known; of a file's they aren't.
	r.starter(t, "export", "exported", "--format", "audiofolder", "--out", "s3://speechmanip/exports/e1")
	store := r.archive(t).Store
	for name, want := range files {
		got, err := objectstore.Bytes(t.Context(), store, objectstore.Ref{Key: "exports/e1/" + name})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("in the bucket %s differs: %v", name, err)
		}
	}
	if _, errOut, err := r.try(t, "export", "exported", "--format", "nemo", "--out", "s3://speechmanip/clips"); err == nil || !strings.Contains(errOut, "holds the evaluations") {
		t.Errorf("an export among the evaluations' own: %v, %s", err, errOut)
	}
}

// killOnce starts a command and kills it when a path is there. It may have ended
// before.
func (r *rig) killOnce(t *testing.T, path string, args ...string) {
	t.Helper()
	cmd := exec.Command(devstacktest.Binary(t, "starter"), args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, time.Minute, path, func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()
}

func readFolder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			files[filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func same(t *testing.T, want, got map[string][]byte) {
	t.Helper()
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is there too", name)
		}
	}
	for name, data := range want {
		if !bytes.Equal(got[name], data) {
			t.Errorf("%s differs", name)
		}
	}
}
