package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/speechmanip/speechmanip/internal/export"
)

// partialFile is how the names of files begin that are not whole yet.
const partialFile = ".partial-"

// folderSink writes an export below a folder.
type folderSink struct{ dir string }

// openFolderSink makes the folder, or takes one that is empty or holds an export. What an
// export that was broken off had begun is removed.
func openFolderSink(dir string) (export.Sink, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	others := 0
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), partialFile) {
			others++
		} else if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return nil, fmt.Errorf("--out: %w", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, export.SettingsFile)); others > 0 && err != nil {
		return nil, fmt.Errorf("--out %s: the folder holds other things and no export: use an empty or a new one", dir)
	}
	return folderSink{dir}, nil
}

func (s folderSink) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// Stat reads the file and returns its hash.
func (s folderSink) Stat(_ context.Context, name string) (string, bool, error) {
	file, err := os.Open(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	hash, err := hashOf(file)
	return hash, err == nil, err
}

// Create begins a file under another name.
func (s folderSink) Create(_ context.Context, name string) (export.File, error) {
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(s.dir, partialFile+"*")
	if err != nil {
		return nil, err
	}
	return &folderFile{File: file, path: s.path(name)}, nil
}

type folderFile struct {
	*os.File
	path string
	done bool
}

// Commit gives the file its name when all of it is on the disk.
func (f *folderFile) Commit(context.Context) error {
	defer f.Abort()
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	f.done = true
	return nil
}

// Abort removes what was written.
func (f *folderFile) Abort() {
	if f.done {
		return
	}
	f.done = true
	_ = f.Close() // closed already where Commit came that far
	_ = os.Remove(f.Name())
}

// hashOf reads all and returns its SHA-256 in hex.
func hashOf(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
