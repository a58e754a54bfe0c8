package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// promptView is one prompt as it is shown, and the JSON of prompts show.
type promptView struct {
	Strategy    string          `json:"strategy"`
	Wording     string          `json:"wording"` // the version of the texts
	Stage       prompt.Stage    `json:"stage"`
	Modality    prompt.Input    `json:"modality"`
	Order       prompt.Order    `json:"option_order"`
	Rules       string          `json:"rules"`
	Dataset     string          `json:"dataset"`
	Dialogue    string          `json:"dialogue"`
	Exemplars   []vote.Exemplar `json:"exemplars,omitempty"` // as the rules show them
	Fingerprint string          `json:"fingerprint"`         // of all that this strategy may ask, whatever the item
	SHA256      string          `json:"sha256,omitempty"`    // of this prompt, its recordings by their place; "" where a call fills in words
	Messages    []shownMessage  `json:"messages"`
}

type shownMessage struct {
	Role  prompt.Role `json:"role"`
	Parts []shownPart `json:"parts"`
}

// shownPart is text, or the name of the recording that stands in its place.
type shownPart struct {
	Text string `json:"text,omitempty"`
	Clip string `json:"clip,omitempty"`
}

// name returns the messages with a name for each recording.
func (v promptView) name(messages []prompt.Message) []shownMessage {
	var all []shownMessage
	for _, m := range messages {
		shown := shownMessage{Role: m.Role}
		for _, p := range m.Parts {
			part := shownPart{Text: p.Text}
			switch {
			case p.Clip == prompt.Target:
				part.Clip = "clip of the dialogue: " + v.Dialogue
			case p.Clip != prompt.NoClip:
				part.Clip = fmt.Sprintf("clip of exemplar %d: %s", p.Clip, v.Exemplars[p.Clip-1].ID)
			}
			shown.Parts = append(shown.Parts, part)
		}
		all = append(all, shown)
	}
	return all
}

// print writes the prompt for a person. Parts of a message are sent with an empty
// line between them, and are printed so.
func (v promptView) print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "strategy      %s, wording %s, stage %s, modality %s, option order %s, rules %s\n", v.Strategy, v.Wording, v.Stage, v.Modality, v.Order, v.Rules)
	fmt.Fprintf(&b, "dialogue      %s of %s\n", printable(v.Dialogue), printable(v.Dataset))
	if len(v.Exemplars) > 0 {
		var shown []string
		for _, e := range v.Exemplars {
			shown = append(shown, fmt.Sprintf("%s %s", printable(e.ID), e.Vote))
		}
		fmt.Fprintf(&b, "exemplars     %s\n", strings.Join(shown, ", "))
	}
	fmt.Fprintf(&b, "fingerprint   %s (of all that this strategy may ask)\n", v.Fingerprint)
	if v.SHA256 != "" {
		fmt.Fprintf(&b, "this prompt   %s (SHA-256, recordings by their place)\n", v.SHA256)
	}
	for _, m := range v.Messages {
		fmt.Fprintf(&b, "\n--- %s\n", m.Role)
		for i, p := range m.Parts {
			if i > 0 {
				b.WriteByte('\n')
			}
			if p.Clip != "" {
				fmt.Fprintf(&b, "[%s]\n", printable(p.Clip))
				continue
			}
			fmt.Fprintln(&b, printable(p.Text, '\n'))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// printable keeps text from outside from steering a terminal: whatever is not
// printable and not in keep is escaped.
func printable(text string, keep ...rune) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) || strings.ContainsRune(string(keep), r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}
