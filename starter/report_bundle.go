package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

// bundleClips is the clips' folder beside the page that plays them.
const bundleClips = "clips"

// bundle is where a report's files go with the clips. Names are relative, with
// slashes.
type bundle interface {
	// write makes a file.
	write(name string, write func(io.Writer) error) error
	// fetch makes a file of an object, objectstore.ErrNotFound where there is none.
	fetch(ctx context.Context, store objectstore.Store, ref objectstore.Ref, name string) error
}

// writeBundle writes the report's files with the clips beside them, so that the
// page shows what was said and plays it: as one archive where path ends in .zip,
// else below the folder path, where clips that are there already aren't fetched
// again. It returns where they are, and how many clips the store doesn't have any
// more.
func writeBundle(ctx context.Context, store archive.Archive, path string, r report.Report) (at string, gone int, err error) {
	name := evaluation.EncodeID(r.Evaluation)
	if strings.EqualFold(filepath.Ext(path), ".zip") {
		err = writeFile(path, func(w io.Writer) error {
			zipped := newZipBundle(w, name)
			if gone, err = fill(ctx, store, zipped, r); err != nil {
				return err
			}
			return zipped.Close()
		})
		at = path
	} else {
		at = filepath.Join(path, name)
		gone, err = fill(ctx, store, folderBundle(at), r)
	}
	if err != nil {
		return "", 0, fmt.Errorf("write bundle: %w", err)
	}
	return at, gone, nil
}

// fill writes the page last, when it is known which clips there are.
func fill(ctx context.Context, store archive.Archive, to bundle, r report.Report) (gone int, err error) {
	for _, file := range report.Files() {
		if file.Name == bundlePage {
			continue
		}
		if err := to.write(file.Name, func(w io.Writer) error { return file.Write(w, r) }); err != nil {
			return 0, err
		}
	}
	media, gone, err := mediaOf(ctx, store, r, func(d report.Dialogue) (string, error) {
		name := bundleClips + "/" + clipName(d)
		return name, to.fetch(ctx, store.Store, d.Clip, name)
	})
	if err != nil {
		return gone, err
	}
	return gone, to.write(bundlePage, func(w io.Writer) error { return report.HTMLWriter(media)(w, r) })
}

// bundlePage is the file that shows the media.
const bundlePage = "report.html"

// clipName is safe as one segment of a path, and another for every casting.
func clipName(d report.Dialogue) string {
	name := evaluation.FileName(d.ID, d.CastingNumber)
	for _, extension := range []string{".wav", ".mp3", ".flac"} {
		if strings.HasSuffix(d.Clip.Key, extension) {
			return name + extension
		}
	}
	return name
}

// folderBundle is a bundle of files below a folder.
type folderBundle string

func (f folderBundle) write(name string, write func(io.Writer) error) error {
	file := filepath.Join(string(f), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return writeFile(file, write)
}

// fetch leaves a file of the object's size alone: the last step of writing one is to
// name it, so it is whole.
func (f folderBundle) fetch(ctx context.Context, store objectstore.Store, ref objectstore.Ref, name string) error {
	if info, err := os.Stat(filepath.Join(string(f), filepath.FromSlash(name))); err == nil && info.Size() == ref.Size {
		return nil
	}
	return copyObject(ctx, store, ref, func(body io.Reader) error {
		return f.write(name, func(w io.Writer) error {
			_, err := io.Copy(w, body)
			return err
		})
	})
}

// copyObject has to take the whole object: its hash is checked at its end.
func copyObject(ctx context.Context, store objectstore.Store, ref objectstore.Ref, to func(io.Reader) error) error {
	body, err := store.Open(ctx, ref)
	if err != nil {
		return err
	}
	return errors.Join(to(body), body.Close())
}
