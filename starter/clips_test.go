package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindClips(t *testing.T) {
	for name, test := range map[string]struct {
		files []string // one that ends in / is a folder
		want  map[string]string
		err   []string // parts of the message
	}{
		"ids end at the first _ or the extension": {
			files: []string{"1_composed_a_b.mp3", "2.wav", "three_x.FLAC"},
			want:  map[string]string{"1": "1_composed_a_b.mp3", "2": "2.wav", "three": "three_x.FLAC"},
		},
		"other files are left alone": {
			files: []string{"1.wav", "._1.wav", ".wav", "_x.wav", "2.txt", "3", "4.wav/"},
			want:  map[string]string{"1": "1.wav"},
		},
		"two clips of one dialogue": {
			files: []string{"1_a.mp3", "1_b.wav"},
			err:   []string{`two clips of dialogue "1"`, `"1_a.mp3"`, `"1_b.wav"`},
		},
		"no clip": {
			files: []string{"notes.txt"},
			err:   []string{"none of the 1 files", "ID_*.mp3, ID_*.wav, ID_*.flac"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range test.files {
				path := filepath.Join(dir, file)
				create := func() error { return os.WriteFile(path, nil, 0o600) }
				if strings.HasSuffix(file, "/") {
					create = func() error { return os.Mkdir(path, 0o700) }
				}
				if err := create(); err != nil {
					t.Fatal(err)
				}
			}
			got, err := findClips(dir)
			if (err != nil) != (test.err != nil) {
				t.Fatalf("error: %v", err)
			}
			for _, part := range test.err {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			for id, path := range got {
				got[id] = strings.TrimPrefix(path, dir+string(filepath.Separator))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	if _, err := findClips(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("a folder that is not there gives no error")
	}
}
