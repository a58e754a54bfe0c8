package evaluation

import (
	"fmt"
	"strings"
	"unicode"
)

// Settings are what of a spec a person wants to see beside an evaluation's progress.
// The manifest in the store has everything.
type Settings struct {
	Dataset     string `json:"dataset"`
	Synthesizer string `json:"synthesizer,omitempty"` // "" where clips were given
	Voices      string `json:"voices,omitempty"`
	Detector    string `json:"detector"`
	Model       string `json:"model,omitempty"`
	Prompt      string `json:"prompt,omitempty"`
	Modality    string `json:"modality"`
	OptionOrder string `json:"option_order,omitempty"`
	Rules       string `json:"rules"`
	Votes       string `json:"votes"`
	Passes      int    `json:"passes"`
	Stored      string `json:"stored_passes"` // whether they may answer
	Quality     string `json:"quality"`
	Limits      Limits `json:"limits"`
	Budget      Budget `json:"budget,omitzero"`
	Prices      Prices `json:"prices,omitzero"`
}

// Settings returns the spec's.
func (s Spec) Settings() Settings {
	out := Settings{
		Dataset: s.Dataset.Label(), Detector: s.Detection.Detector, Model: s.Detection.ModelName, Prompt: s.Detection.Strategy,
		Modality: string(s.Detection.Modality), OptionOrder: s.Detection.OptionOrder,
		Rules: s.Rules.Name, Votes: string(s.Rules.Votes), Passes: s.Rules.Passes, Stored: string(s.Detection.Passes),
		Quality: "on", Limits: s.Limits, Budget: s.Budget, Prices: s.Prices,
	}
	if s.Quality.Off {
		out.Quality = "off"
	}
	if !s.Dataset.Clips {
		out.Synthesizer, out.Voices = s.Speech.Synthesizer, s.Speech.Pool.Name
	}
	return out
}

// maxDetail is how much of one value Markdown shows, in characters: Temporal takes
// 20 KB of details.
const maxDetail = 200

// Markdown returns the settings as a table. What comes from outside is shown as it
// is, and can't be anything but text.
func (s Settings) Markdown() string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | `%s` |\n", name, codeSpan(value))
		}
	}
	row("dataset", s.Dataset)
	row("synthesizer", s.Synthesizer)
	row("voices", s.Voices)
	row("detector", s.Detector)
	row("model", s.Model)
	row("prompt", s.Prompt)
	row("modality", s.Modality)
	row("option order", s.OptionOrder)
	row("rules", s.Rules)
	row("votes", fmt.Sprintf("%s, %d passes, stored ones: %s", s.Votes, s.Passes, s.Stored))
	row("quality", s.Quality)
	row("at once", fmt.Sprintf("%d chunks of %d dialogues, %d dialogues in each", s.Limits.Chunks, s.Limits.ChunkSize, s.Limits.Dialogues))
	if s.Budget.Calls > 0 {
		row("budget", fmt.Sprintf("%d calls", s.Budget.Calls))
	}
	if s.Budget.Money > 0 {
		row("budget", fmt.Sprintf("%s %s", s.Budget.Money, s.Prices.Currency))
	}
	return b.String()
}

// codeSpan keeps a text within a table's code span.
func codeSpan(text string) string {
	runes := []rune(text)
	if len(runes) > maxDetail {
		runes = append(runes[:maxDetail], '…')
	}
	return strings.Map(func(r rune) rune {
		if r == '`' || r == '|' || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(runes))
}
