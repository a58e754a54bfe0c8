package export

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/sample"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// Terms are those under which the text and the voices of an export are, as far as the
// product knows them.
type Terms struct {
	Text   string
	Voices string
	// Unknown says what isn't known, for which who exports must state the rights.
	Unknown []string
}

// RightsError says that the rights must be stated.
type RightsError struct{ Unknown []string }

// Error names what isn't known.
func (e *RightsError) Error() string {
	return "the rights must be stated: " + strings.Join(e.Unknown, "; ")
}

func termsOf(s Set) Terms {
	t := Terms{
		Text:   "The project's own sample, dedicated to the public domain (CC0 1.0).",
		Voices: "Slt, rms and awb of CMU Flite, made of CMU ARCTIC recordings, at other speeds and pitches. Carnegie Mellon University's licence allows any use without fee; its notice must stay with copies of the voices themselves.",
	}
	if !fromSample(s) {
		t.Text = "Not known to the product: the dialogues were read from a file."
		t.Unknown = append(t.Unknown, "the dialogues are not the built-in sample's, so their licence is not known")
	}
	if speech := s.Report.Settings.Spec.Speech; !ownVoices(speech) {
		what := fmt.Sprintf("the voices of %s have terms of their own, and a paid engine's plan too", speech.Synthesizer)
		if speech.Synthesizer == "" {
			what = "the clips were given, so who made them and under which terms is not known"
		}
		t.Voices = "Not known to the product: " + what + "."
		t.Unknown = append(t.Unknown, what)
	}
	return t
}

// fromSample reports whether every exported dialogue says what one of the sample says.
func fromSample(s Set) bool {
	own, err := dialogue.Read("sample.csv", bytes.NewReader(sample.Dialogues()))
	if err != nil {
		return false
	}
	texts := map[string]bool{}
	for _, d := range own.Dialogues {
		texts[d.TextHash()] = true
	}
	for _, d := range s.Dialogues {
		if !texts[d.TextHash] {
			return false
		}
	}
	return true
}

// ownVoices reports whether the voices are those of the built-in pool of flite.
func ownVoices(speech evaluation.Speech) bool {
	pool, err := voice.BuiltIn("flite")
	return err == nil && speech.Synthesizer == "flite" && reflect.DeepEqual(pool, speech.Pool)
}
