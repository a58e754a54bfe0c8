package evaluation

import (
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Estimate returns the most that a dialogue is expected to take when nothing of it
// is stored: every turn is spoken, and the verdict is a YES that needs all that is
// asked about one.
func Estimate(spec Spec, d dialogue.Dialogue) Cost {
	turns, characters := Spoken(spec, d)
	return spec.Prices.Speech(turns, characters).Add(spec.Prices.Questions(MostQuestions(spec).Total()))
}

// Spoken returns how many turns of a dialogue the synthesizer is asked for, and
// their characters (code points) as they are sent. Wordless turns are not sent;
// nothing is where clips are given or only the text is judged.
func Spoken(spec Spec, d dialogue.Dialogue) (turns, characters int) {
	if spec.Dataset.Clips || !spec.Heard() {
		return 0, 0
	}
	for _, turn := range d.Turns {
		if text := speech.Normalize(turn.Text); speech.HasWords(text) {
			turns++
			characters += utf8.RuneCountInString(text)
		}
	}
	return turns, characters
}

// Heard reports whether any modality needs the clip, to be heard or recognised.
func (s Spec) Heard() bool {
	for _, modality := range s.Detection.Modalities() {
		if modality != detect.Text {
			return true
		}
	}
	return false
}

// Questions is how often a detector is asked about one dialogue, by purpose.
type Questions struct {
	Prepare int `json:"prepare"` // what an item's passes share
	Decide  int `json:"decide"`  // the passes
	Tactics int `json:"tactics"` // of a YES
	Quote   int `json:"quote"`   // of a YES
}

// Total returns the sum.
func (q Questions) Total() int { return q.Prepare + q.Decide + q.Tactics + q.Quote }

func (q Questions) times(n int) Questions {
	return Questions{q.Prepare * n, q.Decide * n, q.Tactics * n, q.Quote * n}
}

// MostQuestions returns the most questions that an evaluation asks its detector
// about one dialogue. Not in it: the words for yes and no, which a pass is asked
// for where a server answers with neither letter, and what is asked again after a
// fault.
func MostQuestions(spec Spec) Questions {
	return questionsAbout(spec).times(len(spec.Detection.Modalities()))
}

// questionsAbout returns the questions in one modality.
func questionsAbout(spec Spec) Questions {
	rules := spec.Rules
	orders := 1
	if spec.Detection.OptionOrder == OrderBoth {
		orders = 2 // the exchanged letters are another question, with its own preparation
	}
	passes := rules.Passes // under VotesEarlyStop too: the most is all of them
	if rules.Votes == vote.VotesAnalytic {
		passes = 1
	}
	q := Questions{
		Prepare: orders,
		Decide:  orders * passes * callsPerPass(spec.Detection.Strategy),
		Tactics: 1,
		Quote:   1 + rules.QuoteRetries,
	}
	if spec.Detection.Strategy != "" {
		q.Tactics += sharedBeginnings(rules)
	}
	return q
}

// callsPerPass is 3 for a prompt that reasons: the thoughts, the letters'
// probabilities after them, and the decision.
func callsPerPass(strategy string) int {
	if s, err := prompt.Find(strategy); err == nil && s.Reasons {
		return 3
	}
	return 1
}

// sharedBeginnings counts the first words that several options begin with, in each
// of their forms: a language model's first token doesn't tell those apart, so each
// takes one more question. Vocabularies that split words differently may take a
// few more or fewer.
func sharedBeginnings(rules vote.Rules) int {
	options := map[string]int{}
	for _, option := range tactic.Options() {
		for _, form := range rules.Forms(option) {
			options[firstWord(form)]++
		}
	}
	shared := 0
	for _, n := range options {
		if n > 1 {
			shared++
		}
	}
	return shared
}

// firstWord returns a form up to the space after its first word; a form may begin
// with a space.
func firstWord(form string) string {
	for i, r := range form {
		if r == ' ' && i > 0 {
			return form[:i]
		}
	}
	return form
}
