package tactic_test

import (
	"testing"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

func TestInventory(t *testing.T) {
	all := tactic.All()
	if len(all) != 11 {
		t.Fatalf("All() has %d tactics, want 11", len(all))
	}
	for i, want := range tactic.Options() {
		if got := tactic.Index(want); got != i {
			t.Errorf("Index(%q) = %d, want %d", want, got, i)
		}
		if got, err := tactic.Parse(string(want)); err != nil || got != want {
			t.Errorf("Parse(%q) = %q, %v", want, got, err)
		}
		if typ := tactic.TypeOf(want); (typ == "") != (want == tactic.None) {
			t.Errorf("TypeOf(%q) = %q", want, typ)
		}
	}
	all[0] = "changed"
	if tactic.All()[0] != tactic.Accusation {
		t.Error("All() hands out its own array")
	}
}

func TestParse(t *testing.T) {
	if got, err := tactic.Parse("  persuasion OR seduction "); err != nil || got != tactic.Persuasion {
		t.Errorf("Parse = %q, %v", got, err)
	}
	for _, bad := range []string{"", "Gaslighting", "Accusation,Denial"} {
		if got, err := tactic.Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %q, want an error", bad, got)
		}
	}
	if tactic.Index("Gaslighting") != -1 {
		t.Error("Index of an unknown tactic must be -1")
	}
}
