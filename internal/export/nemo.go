package export

import (
	"fmt"
	"io"
)

// nemoLine is a line of a NeMo manifest: a piece of a clip with its words. NeMo leaves
// the keys from ID on alone.
type nemoLine struct {
	AudioFilepath string  `json:"audio_filepath"` // relative to the manifest
	Offset        seconds `json:"offset"`
	Duration      seconds `json:"duration"`
	Text          string  `json:"text"`
	Speaker       string  `json:"speaker,omitempty"` // of all dialogues: "ID/Person1" is another than "OTHER/Person1"
	ID            string  `json:"id"`
	Voice         *string `json:"voice"`
	Truth         *string `json:"truth"`
	Verdict       *string `json:"verdict"`
	Synthetic     *bool   `json:"synthetic"`
}

// writeNeMo writes a line for each turn that is spoken; where no turn's place is known,
// one for the whole clip.
func writeNeMo(w io.Writer, it Item) error {
	line := nemoLine{
		AudioFilepath: it.FileName, Duration: it.Seconds, ID: it.ID,
		Truth: it.Truth, Verdict: it.Verdict, Synthetic: it.Synthetic,
	}
	if !it.timed() {
		for i, t := range it.Turns {
			if i > 0 {
				line.Text += " "
			}
			line.Text += t.Text
		}
		return writeLine(w, line)
	}
	for _, t := range it.spoken() {
		line.Offset, line.Duration, line.Text = *t.Start, *t.End-*t.Start, t.Text
		line.Speaker, line.Voice = it.speaker(t), t.Voice
		if err := writeLine(w, line); err != nil {
			return err
		}
	}
	return nil
}

// speaker names a turn's speaker among all dialogues; in another casting it is
// another voice.
func (it Item) speaker(t Turn) string {
	id := it.ID
	if it.Casting != nil {
		id += fmt.Sprintf("=n%d", *it.Casting)
	}
	return id + "/" + t.Speaker
}
