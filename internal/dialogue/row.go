package dialogue

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

// row is one record on its way to a dialogue: the rules of both file forms.
type row struct {
	number, line int
	dialogue     Dialogue
	problems     []Problem
	changed      cleaned // what cleaning had to change anywhere in the row
}

func (r *row) note(kind Kind, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		Row: r.number, Line: r.line, ID: r.dialogue.ID, Kind: kind, Detail: fmt.Sprintf(format, args...),
	})
}

func (r *row) fatal(kind Kind, format string, args ...any) {
	r.note(kind, format, args...)
	r.problems[len(r.problems)-1].Fatal = true
}

func (r *row) unusable() bool {
	return slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Fatal })
}

// clean cleans a piece of the row's text and remembers what changed.
func (r *row) clean(text string) string {
	c := clean(text)
	r.changed.invalid = r.changed.invalid || c.invalid
	r.changed.replaced = r.changed.replaced || c.replaced
	r.changed.control = r.changed.control || c.control
	return c.text
}

// setID comes first: later problems carry the id.
func (r *row) setID(text string) {
	id := wholeNumber(text)
	c := clean(id)
	switch {
	case id == "":
		r.fatal(BadID, "the id is empty")
	case len(id) > MaxIDBytes:
		r.fatal(BadID, "the id has %d bytes; at most %d are allowed", len(id), MaxIDBytes)
	case c.invalid || c.replaced || c.text != id || strings.ContainsRune(id, '\n'):
		r.fatal(BadID, "the id %s holds line breaks, control or broken characters", quote(id))
	default:
		r.dialogue.ID = id
	}
}

// setText takes the turns from a written dialogue.
func (r *row) setText(text string) {
	if len(text) > MaxDialogueBytes {
		r.fatal(TooLarge, "the dialogue has %d bytes; at most %d are allowed", len(text), MaxDialogueBytes)
		return
	}
	parsed := parseText(r.clean(text))
	r.dialogue.Turns = parsed.turns
	if parsed.continuation > 0 {
		r.note(Continuation, "%d lines without a speaker were joined to the turn before them", parsed.continuation)
	}
	if !parsed.opening || r.placeOpening() {
		r.checkTurns()
	}
}

// placeOpening finds a speaker for the turn before the first label. MentalManip
// has rows that begin with a bare ":". Nothing is spoken in such a turn, so it
// can go to the first named speaker, which keeps the number of turns and adds no
// speaker. Words are another matter: whose voice they need can't be known, and
// placeOpening returns false.
func (r *row) placeOpening() bool {
	opening := &r.dialogue.Turns[0]
	switch {
	case len(r.dialogue.Turns) == 1:
		r.dialogue.Turns = nil
		r.fatal(NoTurns, "no line begins with a speaker such as \"Person1: \"")
		return false
	case Wordless(opening.Text):
		opening.Speaker = r.dialogue.Turns[1].Speaker
		r.note(NoSpeaker, "the dialogue begins with %s and no speaker; kept as a turn without words of %s",
			quote(opening.Text), opening.Speaker)
		return true
	default:
		r.fatal(NoSpeaker, "the dialogue begins with words of no speaker: %s", quote(opening.Text))
		return false
	}
}

// setTurns takes turns that are apart already.
func (r *row) setTurns(turns []Turn) {
	if len(turns) > MaxTurns {
		r.fatal(TooLarge, "the dialogue has %d turns; at most %d are allowed", len(turns), MaxTurns)
		return
	}
	breaks := 0
	for i, t := range turns {
		speaker := strings.TrimSpace(r.clean(string(t.Speaker)))
		text := strings.TrimSpace(r.clean(t.Text))
		switch {
		case speaker == "":
			r.fatal(NoSpeaker, "turn %d has no speaker", i+1)
		case len(speaker) > MaxLabelBytes || strings.ContainsAny(speaker, ":\n"):
			r.fatal(BadSpeaker, "turn %d: a speaker has at most %d bytes, no colon and no line break: %s",
				i+1, MaxLabelBytes, quote(speaker))
		}
		if strings.Contains(text, "\n") {
			breaks++
			text = strings.ReplaceAll(text, "\n", " ")
		}
		r.dialogue.Turns = append(r.dialogue.Turns, Turn{Speaker: Speaker(speaker), Text: text})
	}
	if breaks > 0 {
		r.note(Continuation, "%d turns had line breaks; each became a space", breaks)
	}
	r.checkTurns()
}

// checkTurns applies the rules that need all turns.
func (r *row) checkTurns() {
	turns := r.dialogue.Turns
	size := 0
	for _, t := range turns {
		size += len(t.Speaker) + len(t.Text)
	}
	switch {
	case len(turns) == 0:
		r.fatal(NoTurns, "the dialogue has no turns")
	case len(turns) > MaxTurns:
		r.fatal(TooLarge, "the dialogue has %d turns; at most %d are allowed", len(turns), MaxTurns)
	case size > MaxDialogueBytes:
		r.fatal(TooLarge, "the dialogue has %d bytes; at most %d are allowed", size, MaxDialogueBytes)
	case r.dialogue.wordless():
		r.fatal(NoWords, "no turn has a word: there is nothing to speak")
	}
}

// setTactics keeps each known tactic once, in the order written.
func (r *row) setTactics(names []string) {
	if len(names) > MaxTactics {
		r.fatal(TooLarge, "more than %d tactics are named", MaxTactics)
		return
	}
	for _, name := range names {
		if strings.TrimSpace(name) == "" {
			continue
		}
		t, err := tactic.Parse(name)
		switch {
		case err != nil:
			r.note(UnknownTactic, "unknown tactic %s is left out", quote(strings.TrimSpace(name)))
		case t == tactic.None:
		case slices.Contains(r.dialogue.Tactics, t):
			r.note(RepeatedTactic, "%s is named more than once", t)
		default:
			r.dialogue.Tactics = append(r.dialogue.Tactics, t)
		}
	}
}

// finish adds what only the whole row shows.
func (r *row) finish() {
	d := r.dialogue
	if d.Truth == No && len(d.Tactics) > 0 {
		r.note(TacticOnNo, "not manipulative, yet it names %s", d.Tactics[0])
	}
	if r.changed.invalid {
		r.note(Encoding, "bytes that are no UTF-8 became %q", utf8.RuneError)
	}
	if r.changed.replaced {
		r.note(Encoding, "the text holds %q: characters were lost before", utf8.RuneError)
	}
	if r.changed.control {
		r.note(ControlCharacters, "control characters became spaces")
	}
}
