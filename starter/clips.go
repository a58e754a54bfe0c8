package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var clipExtensions = []string{".mp3", ".wav", ".flac"}

// findClips returns the clips of a folder by dialogue id: what stands before the
// first '_' of a file's name, or before its extension. Other files are left
// alone, hidden ones too: some systems keep "._CLIP.mp3" beside CLIP.mp3.
func findClips(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("clips: %w", err)
	}
	clips := map[string]string{}
	for _, entry := range entries {
		extension := filepath.Ext(entry.Name())
		if entry.IsDir() || !slices.Contains(clipExtensions, strings.ToLower(extension)) {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimSuffix(entry.Name(), extension), "_")
		if id == "" || strings.HasPrefix(id, ".") {
			continue
		}
		if first := clips[id]; first != "" {
			return nil, fmt.Errorf("clips: %s has two clips of dialogue %q: %q and %q: keep one", dir, id, filepath.Base(first), entry.Name())
		}
		clips[id] = filepath.Join(dir, entry.Name())
	}
	if len(clips) == 0 {
		return nil, fmt.Errorf("clips: none of the %d files in %s is called ID_*%s", len(entries), dir, strings.Join(clipExtensions, ", ID_*"))
	}
	return clips, nil
}
