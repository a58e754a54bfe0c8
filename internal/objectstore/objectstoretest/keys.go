package objectstoretest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

func testUnusualKeys(t *testing.T, store objectstore.Store) {
	unusual := []string{
		"a b/c  d",
		" leading and trailing ",
		"100%",
		"a%2Fb",
		"a%20b+c",
		"a+b",
		"R&D/<x>",
		`say "it's"`,
		"question?mark#hash",
		"semi;colon,comma=equals:colon@at!$*()[]{}^~|`",
		`back\slash`,
		"...",
		".hidden",
		"85514414.0",
		"größe/ñandú",
		"日本語/キー",
		"emoji/🙂",
		"combining/e\u0301",
		"separator/\u2028",
		strings.Repeat("s", 255),
		strings.Repeat("long/", 204) + "end",
	}
	for _, key := range unusual {
		if got := read(t, store, put(t, store, key, "at "+key)); got != "at "+key {
			t.Errorf("%q holds %q", key, got)
		}
		stat, err := store.Stat(t.Context(), key)
		if err != nil || stat.Key != key {
			t.Errorf("Stat of %q: %+v, %v", key, stat, err)
		}
	}
	slices.Sort(unusual)
	if diff := cmp.Diff(unusual, keys(t, store, "")); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for _, key := range unusual {
		if err := store.Delete(t.Context(), key); err != nil {
			t.Errorf("Delete of %q: %v", key, err)
		}
	}
	if left := keys(t, store, ""); len(left) > 0 {
		t.Errorf("left after deleting: %q", left)
	}
}

func testRefusedKeys(t *testing.T, store objectstore.Store) {
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/.", "a\x00b", "a\nb", "a\x7fb",
		"a\u0085b", "a\ufffe", "a\xffb", strings.Repeat("s", 256), strings.Repeat("long/", 204) + "four+",
	} {
		_, putErr := objectstore.PutBytes(t.Context(), store, key, nil, objectstore.PutOptions{})
		_, openErr := store.Open(t.Context(), objectstore.Ref{Key: key})
		_, rangeErr := store.OpenRange(t.Context(), key, 0, 1)
		_, statErr := store.Stat(t.Context(), key)
		_, linkErr := store.Presign(t.Context(), key, time.Minute)
		for op, err := range map[string]error{
			"Put": putErr, "Open": openErr, "OpenRange": rangeErr, "Stat": statErr,
			"Presign": linkErr, "Delete": store.Delete(t.Context(), key),
		} {
			if fault.KindOf(err) != fault.Permanent {
				t.Errorf("%s of %q: %v", op, key, err)
			}
		}
	}
	if found := keys(t, store, ""); len(found) > 0 {
		t.Errorf("stored all the same: %q", found)
	}
}
