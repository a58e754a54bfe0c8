//go:build integration && linux

package e2e

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"html"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

// linked checks a page whose clips are played from the store: its links give the
// clips to whoever has them, and no other file and no line of output has one.
func linked(t *testing.T, r *rig, built report.Report) {
	t.Helper()
	dir := t.TempDir()
	out, errOut, err := r.try(t, "report", "bundled", "--format", "json", "--out", dir, "--links", "1h")
	if err != nil || strings.Contains(out+errOut, "X-Amz-") {
		t.Fatalf("%v, or a link is printed: %.300s", err, errOut)
	}
	files, err := os.ReadDir(filepath.Join(dir, "bundled"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(dir, "bundled", file.Name()))
		if err != nil || strings.Contains(string(data), "X-Amz-") != (file.Name() == "report.html") {
			t.Errorf("%s has links, or the page has none: %v", file.Name(), err)
		}
		if info, err := file.Info(); err != nil || file.Name() == "report.html" && info.Mode().Perm() != 0o600 {
			t.Errorf("others may read %s: %v", file.Name(), info.Mode())
		}
	}
	page := r.starter(t, "report", "bundled", "--format", "html", "--links", "1h")
	players := regexp.MustCompile(`<audio [^>]*src="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(players) != built.Items {
		t.Fatalf("%d players with links, want %d", len(players), built.Items)
	}
	for i, p := range players {
		reply, err := http.Get(html.UnescapeString(p[1]))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, reply.Body); err != nil {
			t.Error(err)
		}
		reply.Body.Close()
		if got := hex.EncodeToString(sum.Sum(nil)); reply.StatusCode != http.StatusOK || got != built.Dialogues[i].Clip.SHA256 {
			t.Errorf("the link of %q gives %s", built.Dialogues[i].ID, reply.Status)
		}
	}
}

// TestBundle has a page play the clips that were rendered, and the store keep the
// page without them.
func TestBundle(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	r.worker(t)
	built := r.evaluate(t, "--id", "bundled", "--limit", "4")
	dir := cmp.Or(os.Getenv("REPORT_BUNDLE"), t.TempDir()) // make test-browser opens it afterwards
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

	linked(t, r, built)

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
