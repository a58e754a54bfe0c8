package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

func TestLinksAreChecked(t *testing.T) {
	for _, test := range []struct {
		links  time.Duration
		format string
		out    string
		want   string
	}{
		{0, "text", "", ""},
		{time.Hour, "html", "", ""},
		{objectstore.MaxPresign, "text", "folder", ""},
		{time.Hour, "text", "", "use it with --format html or --out FOLDER"},
		{time.Hour, "json", "", "use it with --format html or --out FOLDER"},
		{objectstore.MaxPresign + time.Second, "html", "", "from 1s to 168h0m0s"},
		{-time.Hour, "html", "", "from 1s to 168h0m0s"},
		{time.Millisecond, "html", "", "from 1s to 168h0m0s"},
	} {
		err := reportFiles{out: test.out, links: test.links}.checkLinks(test.format)
		var usage usageError
		if test.want == "" && err != nil || test.want != "" && (!errors.As(err, &usage) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s of %s, out %q: %v, want %q", test.links, test.format, test.out, err, test.want)
		}
	}
}

// linking is a store with links; the memory's has none.
type linking struct{ objectstore.Store }

func (linking) Presign(_ context.Context, key string, lifetime time.Duration) (string, error) {
	return fmt.Sprintf("https://store.example/%s?signature=secret&expires=%d", key, int(lifetime.Seconds())), nil
}

// The page plays what there is through links; what is gone has no player.
func TestLinkedPage(t *testing.T) {
	store, built := bundled(t)
	if _, _, err := linkedPage(t.Context(), store, built, time.Hour); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a store without links: %v", err)
	}
	store.Store = linking{store.Store}
	page, gone, err := linkedPage(t.Context(), store, built, time.Hour)
	if err != nil || gone != 1 {
		t.Fatalf("%d gone, %v", gone, err)
	}
	var text strings.Builder
	if err := page(&text, built); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`src="https://store.example/clips/1.wav?signature=secret&amp;expires=3600"`, "<mark>You owe me</mark>.", "media-src https:", "links that end on 2"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(text.String(), "<audio"); n != 1 {
		t.Errorf("%d players, want 1", n)
	}
}
