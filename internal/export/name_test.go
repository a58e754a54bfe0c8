package export_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/export"
)

func TestFileName(t *testing.T) {
	for id, want := range map[string]string{
		"85514414":    "85514414",
		"a-b_c":       "a-b_c",
		"":            "=",
		"A":           "=41",
		"a.b":         "a=2eb",
		"..":          "=2e=2e",
		"../x":        "=2e=2e=2fx",
		"-rf":         "=2drf",
		"con":         "=63on",
		"lpt1":        "=6cpt1",
		"console":     "console",
		"a b\x00\xff": "a=20b=00=ff",
	} {
		if got := export.FileName(id); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
	long := strings.Repeat("x", 500)
	if a, b := export.FileName(long+"a"), export.FileName(long+"b"); a == b || len(a) > 80 {
		t.Errorf("long ids: %q, %q", a, b)
	}
}

var safe = regexp.MustCompile(`^[a-z0-9_=][a-z0-9_=-]{0,79}$`)

func FuzzFileName(f *testing.F) {
	f.Add("a", "A")
	f.Add("con", "=63on")
	f.Add("..", "=2e=2e")
	f.Add(strings.Repeat("é", 90), strings.Repeat("é", 91))
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := export.FileName(a), export.FileName(b)
		if !safe.MatchString(x) {
			t.Fatalf("%q is %q", a, x)
		}
		if a != b && x == y {
			t.Fatalf("%q and %q are both %q", a, b, x)
		}
	})
}
