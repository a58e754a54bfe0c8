// Package prompt renders what a language model is asked: versioned text of our
// own wording, one strategy and one stage at a time, the part that all stages of
// an item share first and the question last.
package prompt

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed text
var texts embed.FS

// Version names the wording; it is the folder of the text files. A changed
// sentence is a new version.
const Version = "v1"

// text returns one file of the current version without its last line feed.
func text(name string) string {
	data, err := texts.ReadFile("text/" + Version + "/" + name + ".txt")
	if err != nil {
		panic(err) // the files are compiled in: a programming error
	}
	return strings.TrimSuffix(string(data), "\n")
}

// Stage is what is asked.
type Stage string

// The stages.
const (
	Reason     Stage = "reason"      // free text before the decision, of strategies that Reason
	Decide     Stage = "decide"      // A or B
	Verbalize  Stage = "verbalize"   // YES or NO, where the decision gave neither letter
	Tactic     Stage = "tactic"      // one name of the inventory or none
	Quote      Stage = "quote"       // the evidence
	QuoteRetry Stage = "quote-retry" // a shorter question after an empty quote
)

// Stages returns all stages.
func Stages() []Stage { return []Stage{Reason, Decide, Verbalize, Tactic, Quote, QuoteRetry} }

// Input is what the model is given of a dialogue.
type Input string

// The inputs; they are spelled as the modalities.
const (
	Audio      Input = "audio" // a recording
	Written    Input = "text"  // the turns as written
	Recognised Input = "asr"   // a recogniser's words
)

// Order is which letter stands for YES.
type Order string

// The orders.
const (
	AB Order = "ab" // (A) YES (B) NO
	BA Order = "ba" // (A) NO (B) YES
)

// Letters returns the letters that mean YES and NO.
func (o Order) Letters() (yes, no string) {
	if o == BA {
		return "B", "A"
	}
	return "A", "B"
}

// Validate refuses an order that is neither ab nor ba.
func (o Order) Validate() error {
	if o != AB && o != BA {
		return fmt.Errorf("option order %q: use ab or ba", o)
	}
	return nil
}

// Strategy is a way to ask.
type Strategy struct {
	Name        string
	Exemplars   int  // solved examples that it shows before the target
	Reasons     bool // the model writes down its thoughts before it decides
	Definitions bool // the tactics are defined before the target
}

// The strategies, the paper's first.
var strategies = []Strategy{
	{Name: "few-shot", Exemplars: 4},
	{Name: "zero-shot"},
	{Name: "chain-of-thought", Reasons: true},
	{Name: "intent-aware", Reasons: true},
	{Name: "definition-augmented", Definitions: true},
}

// Names returns the names that Find takes.
func Names() []string {
	names := make([]string, len(strategies))
	for i, s := range strategies {
		names[i] = s.Name
	}
	return names
}

// Find returns the strategy of that name. The error names the valid ones.
func Find(name string) (Strategy, error) {
	i := slices.IndexFunc(strategies, func(s Strategy) bool { return s.Name == name })
	if i < 0 {
		return Strategy{}, fmt.Errorf("unknown prompt strategy %q: use one of %s", name, strings.Join(Names(), ", "))
	}
	return strategies[i], nil
}
