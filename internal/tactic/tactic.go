// Package tactic is the closed inventory of manipulation tactics: MentalManip's
// eleven techniques (Wang et al., ACL 2024) plus None, and their types.
package tactic

import (
	"fmt"
	"slices"
	"strings"
)

// Tactic is one entry of the inventory, spelled as in MentalManip's Technique
// column. None stands for "no tactic".
type Tactic string

// The inventory, in its order; the order breaks the last ties.
const (
	Accusation   Tactic = "Accusation"
	Anger        Tactic = "Brandishing Anger"
	Denial       Tactic = "Denial"
	Evasion      Tactic = "Evasion"
	Innocence    Tactic = "Feigning Innocence"
	Intimidation Tactic = "Intimidation"
	Persuasion   Tactic = "Persuasion or Seduction"
	Servant      Tactic = "Playing Servant Role"
	Victim       Tactic = "Playing Victim Role"
	Rationalize  Tactic = "Rationalization"
	Shaming      Tactic = "Shaming or Belittlement"

	None Tactic = "none"
)

var inventory = [...]Tactic{
	Accusation, Anger, Denial, Evasion, Innocence, Intimidation,
	Persuasion, Servant, Victim, Rationalize, Shaming,
}

// All returns the eleven tactics in inventory order, without None.
func All() []Tactic { return slices.Clone(inventory[:]) }

// Options returns what a detector chooses from: the eleven tactics, then None.
func Options() []Tactic { return append(All(), None) }

// Index returns the place of t in Options, or -1 when t is not in it.
func Index(t Tactic) int {
	if t == None {
		return len(inventory)
	}
	return slices.Index(inventory[:], t)
}

// Parse reads a tactic's name; case and surrounding space don't matter. The
// error names the text that is no tactic.
func Parse(name string) (Tactic, error) {
	trimmed := strings.TrimSpace(name)
	for _, t := range Options() {
		if strings.EqualFold(trimmed, string(t)) {
			return t, nil
		}
	}
	return "", fmt.Errorf("unknown tactic %q", trimmed)
}

// Type groups tactics by what they work on (the paper's released scripts).
type Type string

// The tactic types.
const (
	Blame            Type = "Blame/Shame"
	Coercion         Type = "Coercion/Threat"
	Deception        Type = "Deception/Evasion"
	Justification    Type = "Justification/Minimization"
	Charm            Type = "Charm/Reward"
	SelfPresentation Type = "Self-Presentation"
)

// TypeOf returns the type of t, or "" for None and unknown values.
func TypeOf(t Tactic) Type {
	switch t {
	case Accusation, Shaming:
		return Blame
	case Anger, Intimidation:
		return Coercion
	case Denial, Evasion, Innocence:
		return Deception
	case Rationalize:
		return Justification
	case Persuasion:
		return Charm
	case Servant, Victim:
		return SelfPresentation
	default:
		return ""
	}
}
