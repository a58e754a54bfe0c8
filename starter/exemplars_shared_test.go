package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestReleasedExemplars plans a few-shot evaluation of the published clips: the
// four exemplars are among the 24, 20 remain.
func TestReleasedExemplars(t *testing.T) {
	data := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		t.Skip("the published clips are not here")
	}
	r := &request{lookup: func(string) (string, bool) { return "", false }}
	cmd := &cobra.Command{}
	r.flags(cmd)
	if err := cmd.ParseFlags([]string{
		"--detector", "chat", "--prompt", "few-shot", "--rules", "released",
		"--dataset", filepath.Join(data, "mentalmanip", "mentalmanip_con.csv"), "--clips", filepath.Join(data, "speechmentalmanip", "clips"),
	}); err != nil {
		t.Fatal(err)
	}
	p, err := r.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range p.shown {
		if filepath.Dir(e.clip) != r.clips || e.Quote != "" {
			t.Errorf("%s: clip %q, quote %q", e.ID, e.clip, e.Quote)
		}
		got = append(got, e.ID+" "+string(e.Vote))
	}
	if diff := cmp.Diff([]string{"85514440 NO", "85514449 NO", "85514414 YES", "85514416 YES"}, got); diff != "" {
		t.Error(diff)
	}
	if len(p.dialogues) != 20 || len(p.excluded) != 4 {
		t.Errorf("%d scored, %d left out", len(p.dialogues), len(p.excluded))
	}
}
