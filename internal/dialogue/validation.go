package dialogue

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

// Kind names the rule that a row breaks.
type Kind string

// The kinds that make a row unusable.
const (
	Columns     Kind = "columns"      // more or fewer columns than the header
	BadID       Kind = "bad_id"       // empty, too long or with broken characters
	DuplicateID Kind = "duplicate_id" // an earlier row has the id
	BadTruth    Kind = "bad_truth"    // neither 1 nor 0
	BadJSON     Kind = "bad_json"     // no JSON object
	BadField    Kind = "bad_field"    // a JSON field of the wrong type, or two that exclude each other
	BadSpeaker  Kind = "bad_speaker"  // a label that is too long or holds a colon
	NoTurns     Kind = "no_turns"     // no turn at all
	NoWords     Kind = "no_words"     // turns, but nothing to speak
	TooLarge    Kind = "too_large"    // beyond MaxDialogueBytes, MaxTurns or MaxTactics
)

// NoSpeaker is text before the first speaker: a row can be used if it has no
// words (the first named speaker gets it), and can't if it has.
const NoSpeaker Kind = "no_speaker"

// The kinds that leave a row usable.
const (
	UnknownTactic     Kind = "unknown_tactic"     // left out
	RepeatedTactic    Kind = "repeated_tactic"    // counted once
	TacticOnNo        Kind = "tactic_on_no"       // kept as annotated
	Continuation      Kind = "continuation"       // a line without a speaker joined to the turn before
	Encoding          Kind = "encoding"           // lost characters, shown as U+FFFD
	ControlCharacters Kind = "control_characters" // made spaces
	UnknownField      Kind = "unknown_field"      // a JSON field that is ignored
)

// Problem is one finding about one row.
type Problem struct {
	Row    int    `json:"row"`  // counts dialogues from 1, without the header and blank lines
	Line   int    `json:"line"` // of the file, from 1, where the row starts
	ID     string `json:"id"`   // "" if the row has no valid one
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
	Fatal  bool   `json:"fatal"` // the row can't be used
}

// Validation is what reading found: counts over the usable dialogues, and the
// problems of all rows in the file's order.
type Validation struct {
	Dialogues           int                   `json:"dialogues"`
	Turns               int                   `json:"turns"`
	WordlessTurns       int                   `json:"wordless_turns"`
	SpeakersPerDialogue map[int]int           `json:"speakers_per_dialogue"` // speakers -> dialogues
	Characters          int                   `json:"characters"`            // code points of the turns' texts, labels left out
	Yes                 int                   `json:"yes"`
	No                  int                   `json:"no"`
	YesWithoutTactic    int                   `json:"yes_without_tactic"`
	TacticMentions      map[tactic.Tactic]int `json:"tactic_mentions"` // all eleven, 0 included
	Problems            []Problem             `json:"problems"`
	Duplicates          [][]string            `json:"duplicates"` // ids of dialogues with the same TextHash
}

func newValidation() Validation {
	v := Validation{
		SpeakersPerDialogue: map[int]int{},
		TacticMentions:      map[tactic.Tactic]int{},
		Problems:            []Problem{},
		Duplicates:          [][]string{},
	}
	for _, t := range tactic.All() {
		v.TacticMentions[t] = 0
	}
	return v
}

func (v *Validation) count(d Dialogue) {
	v.Dialogues++
	v.Turns += len(d.Turns)
	v.Characters += d.characters()
	v.SpeakersPerDialogue[len(d.Speakers())]++
	for _, t := range d.Turns {
		if Wordless(t.Text) {
			v.WordlessTurns++
		}
	}
	for _, t := range d.Tactics {
		v.TacticMentions[t]++
	}
	switch d.Truth {
	case Yes:
		v.Yes++
		if len(d.Tactics) == 0 {
			v.YesWithoutTactic++
		}
	case No:
		v.No++
	case Unknown:
	}
}

// Unusable returns the number of rows that can't be used.
func (v Validation) Unusable() int {
	rows := map[int]bool{}
	for _, p := range v.Problems {
		if p.Fatal {
			rows[p.Row] = true
		}
	}
	return len(rows)
}

// WriteText writes v for a person to read. Characters that don't print are
// escaped, whatever the dataset holds.
func (v Validation) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

	unusable := v.Unusable()
	line("dialogues\t%d of %d rows", v.Dialogues, v.Dialogues+unusable)
	line("turns\t%d, %d without words", v.Turns, v.WordlessTurns)
	line("characters\t%d", v.Characters)
	for _, n := range slices.Sorted(maps.Keys(v.SpeakersPerDialogue)) {
		line("%d speakers\t%d dialogues", n, v.SpeakersPerDialogue[n])
	}
	line("YES\t%d, %d name no tactic", v.Yes, v.YesWithoutTactic)
	line("NO\t%d", v.No)
	if unknown := v.Dialogues - v.Yes - v.No; unknown > 0 {
		line("truth unknown\t%d", unknown)
	}
	line("\ntactic mentions")
	for _, name := range v.byMentions() {
		line("  %s\t%d", name, v.TacticMentions[name])
	}
	line("\nsame text\t%d groups", len(v.Duplicates))
	for _, ids := range v.Duplicates {
		line("  %s", printable(strings.Join(ids, ", ")))
	}
	line("\nproblems\t%d, %d rows can't be used", len(v.Problems), unusable)
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write validation: %w", err)
	}
	return v.writeProblems(w)
}

func (v Validation) writeProblems(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range v.Problems {
		use := "note"
		if p.Fatal {
			use = "UNUSABLE"
		}
		fmt.Fprintf(t, "  %s\trow %d\tline %d\t%s\t%s\t%s\n", use, p.Row, p.Line, printable(p.ID), p.Kind, printable(p.Detail))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write validation: %w", err)
	}
	return nil
}

// byMentions returns the tactics, most mentioned first, then inventory order.
func (v Validation) byMentions() []tactic.Tactic {
	tactics := tactic.All()
	slices.SortStableFunc(tactics, func(a, b tactic.Tactic) int {
		return cmp.Compare(v.TacticMentions[b], v.TacticMentions[a])
	})
	return tactics
}
