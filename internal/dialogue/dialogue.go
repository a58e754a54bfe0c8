// Package dialogue turns dataset rows into dialogues: ordered turns of named
// speakers with their ground truth.
package dialogue

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

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

// Turn is one line of a dialogue, with its text as written in the dataset.
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

// Words splits text into lower-cased words of letters and digits; apostrophes
// inside a word, typographic or not, are dropped ("don’t" is "dont").
func Words(text string) []string {
	text = strings.NewReplacer("'", "", "’", "", "‘", "").Replace(strings.ToLower(text))
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
