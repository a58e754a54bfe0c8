// Package dialogue turns dataset rows into dialogues: ordered turns of named
// speakers with their ground truth. It reads MentalManip's CSV and a JSONL form,
// reports every row that breaks a rule, and writes one canonical JSON line a
// dialogue.
package dialogue

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

// Speaker is a speaker's label within one dialogue, e.g. "Person1".
type Speaker string

// Truth is a dialogue's ground truth.
type Truth string

// The truths. YES, manipulative, is the positive class everywhere.
const (
	Yes     Truth = "YES"
	No      Truth = "NO"
	Unknown Truth = ""
)

// ParseTruth reads "yes" or "no" in any case. The error names the text that is
// neither.
func ParseTruth(text string) (Truth, error) {
	switch strings.ToUpper(strings.TrimSpace(text)) {
	case string(Yes):
		return Yes, nil
	case string(No):
		return No, nil
	default:
		return Unknown, fmt.Errorf("%s is no truth (valid: yes, no)", quote(text))
	}
}

// parseManipulative reads 1 or 0, also in a spreadsheet's spelling 1.0 or 0.0.
func parseManipulative(text string) (Truth, error) {
	switch wholeNumber(text) {
	case "1":
		return Yes, nil
	case "0":
		return No, nil
	default:
		return Unknown, fmt.Errorf("%s is not 1 (manipulative) or 0", quote(text))
	}
}

// Turn is one line of a dialogue, with its text as written in the dataset. The
// readers of this package return trimmed text without line breaks and without
// control characters other than tabs; it may be empty.
type Turn struct {
	Speaker Speaker `json:"speaker"`
	Text    string  `json:"text"`
}

// Dialogue is one item of a dataset.
type Dialogue struct {
	ID      string          `json:"id"`
	Turns   []Turn          `json:"turns"`
	Truth   Truth           `json:"truth,omitempty"`
	Tactics []tactic.Tactic `json:"tactics,omitempty"` // as annotated; empty when none is named
}

// Speakers returns the distinct speakers in order of first appearance.
func (d Dialogue) Speakers() []Speaker {
	var speakers []Speaker
	for _, t := range d.Turns {
		if !slices.Contains(speakers, t.Speaker) {
			speakers = append(speakers, t.Speaker)
		}
	}
	return speakers
}

// characters returns the number of characters (code points) in all turns.
func (d Dialogue) characters() int {
	n := 0
	for _, t := range d.Turns {
		n += utf8.RuneCountInString(t.Text)
	}
	return n
}

// wordless reports whether no turn has a word.
func (d Dialogue) wordless() bool {
	return !slices.ContainsFunc(d.Turns, func(t Turn) bool { return !Wordless(t.Text) })
}

// TextHash returns the hex SHA-256 of the normalised text: lower-cased words
// (letters and digits only) of all turns, speakers left out. Two dialogues with
// the same hash say the same.
func (d Dialogue) TextHash() string {
	hash := sha256.New()
	for _, t := range d.Turns {
		for _, word := range Words(t.Text) {
			hash.Write([]byte(word))
			hash.Write([]byte{' '})
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// apostrophes removes the marks that may stand inside a word.
var apostrophes = strings.NewReplacer("'", "", "’", "", "‘", "")

// Words splits text into lower-cased words of letters and digits; apostrophes
// inside a word, typographic or not, are dropped ("don’t" is "dont").
func Words(text string) []string {
	return strings.FieldsFunc(apostrophes.Replace(strings.ToLower(text)), func(r rune) bool { return !inWord(r) })
}

// Wordless reports whether text has no letter and no digit: nothing to speak.
func Wordless(text string) bool { return !strings.ContainsFunc(text, inWord) }

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Says reports whether a quote's words stand in one of the turns, in their order,
// whatever their case and punctuation. A quote without words stands nowhere.
func (d Dialogue) Says(quote string) bool {
	wanted := Words(quote)
	return len(wanted) > 0 && slices.ContainsFunc(d.Turns, func(t Turn) bool {
		words := Words(t.Text)
		for from := 0; from+len(wanted) <= len(words); from++ {
			if slices.Equal(words[from:from+len(wanted)], wanted) {
				return true
			}
		}
		return false
	})
}
