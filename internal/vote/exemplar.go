package vote

import (
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

// Exemplar is a solved dialogue that a prompt shows before the target.
type Exemplar struct {
	ID     string        `json:"id"`
	Vote   Vote          `json:"vote"`
	Tactic tactic.Tactic `json:"tactic,omitempty"`
	Quote  string        `json:"quote,omitempty"`
}

// Shown returns what a prompt may say of an exemplar beside its dialogue.
func (r Rules) Shown(e Exemplar) Exemplar {
	if r.Exemplars == ExemplarLabel {
		return Exemplar{ID: e.ID, Vote: e.Vote}
	}
	return e
}

// IsExemplar reports whether the dialogue with this id is an exemplar and so
// must not be scored.
func (r Rules) IsExemplar(id string) bool { return slices.Contains(r.ExemplarIDs, id) }

// Forms returns the spellings of an option whose probabilities a detector sums.
func (r Rules) Forms(t tactic.Tactic) []string {
	name := string(t)
	if r.TacticForms != FormFour {
		return []string{name}
	}
	forms := []string{name, " " + name}
	if lower := strings.ToLower(name); lower != name {
		forms = append(forms, lower, " "+lower)
	}
	return forms
}
