package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two programs' streams, as govulncheck writes them.
const streams = `{"config":{"scanner_name":"govulncheck"}}
{"osv":{"id":"GO-1","summary":"a hole"}}
{"finding":{"osv":"GO-1","fixed_version":"v1.1.0","trace":[{"module":"example.org/a","version":"v1.0.0"}]}}
{"finding":{"osv":"GO-1","fixed_version":"v1.1.0","trace":[{"module":"example.org/a","version":"v1.0.0","package":"example.org/a/b","function":"F"}]}}
{"config":{"scanner_name":"govulncheck"}}
{"osv":{"id":"GO-2","summary":"far away"}}
{"finding":{"osv":"GO-2","trace":[{"module":"example.org/c","version":"v1.0.0","package":"example.org/c"}]}}
`

func TestRun(t *testing.T) {
	for name, tt := range map[string]struct{ accepted, in, out, err string }{
		"unknown":                 {"", streams, "FOUND    GO-1 example.org/a v1.0.0, fixed in v1.1.0: a hole", "1 findings"},
		"accepted":                {"# why\nGO-1 example.org/a not asked", streams, "accepted GO-1 example.org/a: not asked", ""},
		"accepted elsewhere":      {"GO-1 example.org/z not asked", streams, "FOUND    GO-1 example.org/a", "1 findings"},
		"accepted above":          {"GO-1 example.org not asked", streams, "accepted GO-1 example.org/a: not asked", ""},
		"a name's beginning":      {"GO-1 example.or not asked", streams, "FOUND    GO-1 example.org/a", "1 findings"},
		"no longer there":         {"GO-1 example.org/a x\nGO-9 stdlib old", streams, "gone     GO-9 stdlib", ""},
		"without a reason":        {"GO-1 example.org/a", streams, "", "line 1"},
		"nothing was looked at":   {"", "", "", "empty"},
		"govulncheck broke off":   {"", `{"config":{}}{"finding":`, "", "unexpected EOF"},
		"nothing vulnerable here": {"", `{"config":{}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			list := filepath.Join(t.TempDir(), "accepted.txt")
			if err := os.WriteFile(list, []byte(tt.accepted), 0o644); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			err := run([]string{list}, strings.NewReader(tt.in), &out)
			if !strings.Contains(out.String(), tt.out) {
				t.Errorf("out %q, want %q", out.String(), tt.out)
			}
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("err %v, want %q", err, tt.err)
			}
		})
	}
}

// The project's own list can be read.
func TestAccepted(t *testing.T) {
	text, err := os.ReadFile("accepted.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readAccepted(string(text)); err != nil {
		t.Error(err)
	}
}
