package objectstore_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// What CheckKey accepts stays below the prefix it is put under.
func FuzzCheckKey(f *testing.F) {
	for _, seed := range []string{"a/b", "../a", "a//b", "/a", "a/", "", ".", "a\x00", "\xff", "größe", strings.Repeat("x", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if err := objectstore.CheckKey(key); err != nil {
			return
		}
		if joined := path.Join("prefix", key); joined != "prefix/"+key {
			t.Errorf("%q joins to %q", key, joined)
		}
		if len(key) > 1024 || !utf8.ValidString(key) {
			t.Errorf("accepted %q", key)
		}
		for segment := range strings.SplitSeq(key, "/") {
			if len(segment) > 255 {
				t.Errorf("accepted a segment of %d bytes", len(segment))
			}
		}
	})
}
