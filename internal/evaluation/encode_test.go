package evaluation

import (
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

func TestEncodeID(t *testing.T) {
	long := strings.Repeat("a", maxEncodedID)
	for _, test := range []struct{ id, want string }{
		{"85514440", "85514440"},
		{"A-b_c.d", "A-b_c.d"},
		{"", "="},
		{".", "=2E"},
		{"..", "=2E."},
		{".hidden", "=2Ehidden"},
		{"../../etc", "=2E.=2F..=2Fetc"},
		{"a/b", "a=2Fb"},
		{"a b", "a=20b"},
		{"a=2Fb", "a=3D2Fb"},
		{"é", "=C3=A9"},
		{"\x00\n\xff", "=00=0A=FF"},
		{long, long},
		{long + "a", strings.Repeat("a", 100) + "==9ce4e58a8e1314bf14ca8a52ac20fa1b1e27a78c40a24b5a287422f992b29b9d"},
	} {
		if got := EncodeID(test.id); got != test.want {
			t.Errorf("EncodeID(%.20q) is %q, want %q", test.id, got, test.want)
		}
	}
}

// FuzzEncodeID: what comes out is one safe segment of a key, and two ids never
// share one.
func FuzzEncodeID(f *testing.F) {
	for _, seed := range [][2]string{
		{"", "="}, {".", "=2E"}, {"..", "=2E."}, {"a/b", "a=2Fb"}, {"é", "e\u0301"},
		{strings.Repeat("x", 500), strings.Repeat("x", 501)},
		{strings.Repeat("/", 60), strings.Repeat("/", 61)},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		encoded := EncodeID(a)
		if strings.Trim(encoded, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.=") != "" {
			t.Errorf("EncodeID(%q) is %q", a, encoded)
		}
		if err := objectstore.CheckKey(RecordKey("e", 0, a, 0)); err != nil {
			t.Errorf("EncodeID(%q): %v", a, err)
		}
		if len(encoded) > maxEncodedID || strings.HasPrefix(encoded, ".") {
			t.Errorf("EncodeID(%q) is %q, %d bytes", a, encoded, len(encoded))
		}
		if a != b && encoded == EncodeID(b) {
			t.Errorf("%q and %q are both %q", a, b, encoded)
		}
		if encoded != EncodeID(a) {
			t.Errorf("EncodeID(%q) changes", a)
		}
	})
}

func TestCheckID(t *testing.T) {
	for id, valid := range map[string]bool{
		"a": true, "0": true, "t1": true, "20260102-120000-abcd": true, "a.b_c-d": true,
		strings.Repeat("a", 63): true, strings.Repeat("a", 64): false,
		"": false, ".a": false, "-a": false, "_a": false, "A": false, "a/b": false, "a b": false, "é": false, "a\n": false, "a\x00": false,
	} {
		err := CheckID(id)
		if (err == nil) != valid {
			t.Errorf("CheckID(%q) is %v, want valid %v", id, err, valid)
		}
		if valid && EncodeID(id) != id {
			t.Errorf("%q is valid and encoded as %q", id, EncodeID(id))
		}
	}
}
