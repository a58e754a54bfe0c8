package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/report"
)

// Every field of the report, and every file, is in its documentation.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := build(t, paid())
	r.AddPeople(table6Votes(), annotation.Rule{})
	r.AddTruths()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(write(t, report.WriteJSON, r)), &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/report.md doesn't say what %q is", name)
		}
	}
	for _, file := range report.Files() {
		if !strings.Contains(string(text), "`"+file.Name+"`") {
			t.Errorf("docs/report.md doesn't name %s", file.Name)
		}
	}
	if !strings.Contains(string(text), "`"+report.Schema+"`") {
		t.Errorf("docs/report.md doesn't name the schema %s", report.Schema)
	}
}
