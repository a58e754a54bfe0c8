package annotate_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotate"
	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/study"
)

// TestServe serves the page for make test-browser: it writes where, and everybody's
// token, to the folder ANNOTATION_PAGE, and ends when a file named end is there.
func TestServe(t *testing.T) {
	dir := os.Getenv("ANNOTATION_PAGE")
	if dir == "" {
		t.Skip("ANNOTATION_PAGE names no folder: use make test-browser")
	}
	store := mem.New()
	names := []string{"A01", "A02", "A03"}
	s := study.Study{ID: "s", Listening: true, Rules: study.Rules{MinVotes: 3}, Design: study.Design{
		Modalities: []annotation.Modality{annotation.Text, annotation.Audio}, Annotators: names, Batches: [][]int{{0, 1}}, Repeat: study.SameItems}}
	for _, name := range names {
		s.Design.Assignments = slices.Concat(s.Design.Assignments, assignments(name, 0, 1))
	}
	s = newStudy(t, store, s, 2, 1.5)
	registry := people.Registry{Store: store, Now: time.Now}
	if _, err := registry.Add(t.Context(), "s", names); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.SetConsentText(t.Context(), "s", consentText); err != nil {
		t.Fatal(err)
	}
	page, err := annotate.New(annotate.Config{Archive: archive.Archive{Store: store}, People: registry, Studies: newInMemory(s, time.Now), Now: time.Now,
		Audit: func(annotate.Event) {}, Failed: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(page.Handler())
	defer server.Close()
	links := map[string]string{"base": server.URL}
	for _, name := range names {
		token, err := registry.NewLink(t.Context(), "s", name)
		if err != nil {
			t.Fatal(err)
		}
		links[name] = string(token)
	}
	token, err := registry.NewLeaderLink(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	links["leader"] = string(token)
	data, err := json.Marshal(links)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "links.tmp"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "links.tmp"), filepath.Join(dir, "links.json")); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(8 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "end")); err == nil {
			return
		}
	}
}
