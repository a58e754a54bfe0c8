//go:build integration && linux

package e2e

import (
	"archive/zip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// TestBundle has a page play the clips that were rendered, and the store keep the
// page without them.
func TestBundle(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	r.worker(t)
	built := r.evaluate(t, "--id", "bundled", "--limit", "4")
	dir := t.TempDir()
	r.starter(t, "report", "bundled", "--bundle", dir)

	page, err := os.ReadFile(filepath.Join(dir, "bundled", "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	players := regexp.MustCompile(`<audio [^>]*src="([^"]+)"`).FindAllSubmatch(page, -1)
	if len(players) != built.Items {
		t.Errorf("%d players, want one for each of %d dialogues", len(players), built.Items)
	}
	sizes := map[int64]bool{}
	for _, d := range built.Dialogues {
		sizes[d.Clip.Size] = true
	}
	for _, p := range players {
		if info, err := os.Stat(filepath.Join(dir, "bundled", string(p[1]))); err != nil || !sizes[info.Size()] {
			t.Errorf("clip %s: %v, %v", p[1], info, err)
		}
	}
	if turns := strings.Count(string(page), " data-from="); turns < 2*built.Items {
		t.Errorf("%d turns have their times, want some of each of %d dialogues", turns, built.Items)
	}

	packed := filepath.Join(dir, "bundled.zip")
	r.starter(t, "report", "bundled", "--bundle", packed)
	if zipped, err := zip.OpenReader(packed); err != nil {
		t.Errorf("the archive: %v", err)
	} else {
		inside := map[string]uint64{}
		for _, f := range zipped.File {
			inside[f.Name] = f.UncompressedSize64
		}
		for _, p := range players {
			if !sizes[int64(inside["bundled/"+string(p[1])])] {
				t.Errorf("clip %s is not in the archive", p[1])
			}
		}
		zipped.Close()
	}

	archive := r.archive(t)
	ref, err := archive.Store.Stat(t.Context(), evaluation.ReportKey("bundled", "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := objectstore.Bytes(t.Context(), archive.Store, ref)
	if err != nil || strings.Contains(string(stored), "<audio") || !strings.Contains(string(stored), "<h1>Evaluation bundled</h1>") {
		t.Errorf("the stored page: %v, %d bytes", err, len(stored))
	}
}
