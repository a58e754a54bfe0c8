package main

import (
	"context"
	"time"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

// checkLinks refuses a lifetime that no store gives a link, and links that nothing
// shows.
func (to reportFiles) checkLinks(format string) error {
	switch {
	case to.links == 0:
		return nil
	case to.links < time.Second || to.links > objectstore.MaxPresign:
		return usagef("--links %s: a link may live from 1s to %s, e.g. 24h", to.links, objectstore.MaxPresign)
	case format != "html" && to.out == "":
		return usagef("--links %s: only the page plays clips; use it with --format html or --out FOLDER", to.links)
	}
	return nil
}

// linkedPage returns the writer of a page that plays the clips from the store,
// through links that whoever has the page may follow until their lifetime ends, which
// the page says. They are in the page alone. It counts the clips that the store doesn't have any more.
func linkedPage(ctx context.Context, store archive.Archive, r report.Report, lifetime time.Duration) (page report.Writer, gone int, err error) {
	until := time.Now().Add(lifetime) // of the first link: the others end later
	media, gone, err := mediaOf(ctx, store, r, func(d report.Dialogue) (string, error) {
		if _, err := store.Store.Stat(ctx, d.Clip.Key); err != nil {
			return "", err
		}
		return store.Store.Presign(ctx, d.Clip.Key, lifetime)
	})
	if err != nil {
		return nil, 0, err
	}
	return report.LinkedHTMLWriter(media, until), gone, nil
}
