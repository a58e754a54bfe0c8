package export

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
)

// Item is one dialogue of an export, a row of its metadata. Every row has every key,
// with null for what is not known, so that readers which infer a table agree on it.
type Item struct {
	FileName string `json:"file_name"` // of the clip, relative to the metadata
	ID       string `json:"id"`
	Casting  *int   `json:"casting"` // which one of the dialogue's; null where it has one

	Evaluation string `json:"evaluation"`
	// Synthetic is true of clips that the product composed; of clips that were given
	// it is not known.
	Synthetic   *bool   `json:"synthetic"`
	Synthesizer *string `json:"synthesizer"` // engine and version

	Truth   *string  `json:"truth"`   // YES, NO
	Tactics []string `json:"tactics"` // as annotated

	Verdict     *string  `json:"verdict"` // YES, NO, UNRESOLVED; null where the dialogue failed
	VotesYes    int      `json:"votes_yes"`
	VotesNo     int      `json:"votes_no"`
	Invalid     int      `json:"votes_invalid"`
	Tactic      *string  `json:"tactic"` // of a YES, as detected
	Evidence    *string  `json:"evidence"`
	TextVerdict *string  `json:"text_verdict"` // of the turns as written, where both modalities were judged
	Failure     *string  `json:"failure"`
	Seen        bool     `json:"seen"` // by the detector, in its training
	Flags       []string `json:"flags"`

	Seconds seconds `json:"seconds"` // of the clip
	Rate    *int    `json:"sample_rate"`
	SHA256  string  `json:"sha256"` // of the clip
	Turns   []Turn  `json:"turns"`
}

// Turn is one turn as written, with its place in the clip where that is known.
type Turn struct {
	Speaker string   `json:"speaker"`
	Voice   *string  `json:"voice"`
	Text    string   `json:"text"`
	Start   *seconds `json:"start"`
	End     *seconds `json:"end"`
}

// seconds are written with all their decimals: a reader that infers types must not
// take 1 for a whole number.
type seconds float64

// MarshalJSON writes microseconds' precision.
func (s seconds) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// String returns what MarshalJSON writes.
func (s seconds) String() string { return strconv.FormatFloat(float64(s), 'f', 6, 64) }

// clipExtension is the kind of a clip, which its key ends in: wav, mp3 or flac.
func clipExtension(d report.Dialogue) (string, error) {
	switch extension := strings.TrimPrefix(path.Ext(d.Clip.Key), "."); extension {
	case "wav", "mp3", "flac":
		return extension, nil
	}
	return "", fmt.Errorf("clip of dialogue %q: %q is no audio file's name", d.ID, d.Clip.Key)
}

// clipName is the file's name of a dialogue's clip, without extension, and another for
// every casting: FileName writes no n after a "=".
func clipName(d report.Dialogue) string {
	if d.CastingNumber == 0 {
		return FileName(d.ID)
	}
	return fmt.Sprintf("%s=n%d", FileName(d.ID), d.CastingNumber)
}

// newItem joins what was found of a dialogue with its text and its clip's timeline,
// nil where there is none. file is the clip's name.
func newItem(d report.Dialogue, text dialogue.Dialogue, timeline *audio.Timeline, file string) Item {
	it := Item{
		FileName: file, ID: d.ID, Evaluation: d.Evaluation,
		Truth: known(string(d.Truth)), Tactics: []string{}, Verdict: known(string(d.Verdict.Verdict)),
		VotesYes: d.Verdict.Yes, VotesNo: d.Verdict.No, Invalid: d.Verdict.Invalid,
		Seen: d.Seen, Flags: append([]string{}, d.Flagged...),
		Seconds: seconds(d.ClipSeconds), SHA256: d.Clip.SHA256, Turns: []Turn{},
	}
	if d.CastingNumber > 0 {
		it.Casting = &d.CastingNumber
	}
	for _, t := range d.Record.Tactics {
		it.Tactics = append(it.Tactics, string(t))
	}
	if d.Tactic != nil {
		it.Tactic = known(string(d.Tactic.Tactic))
	}
	if d.Evidence != nil {
		it.Evidence = known(d.Evidence.Text)
	}
	if d.Text != nil {
		it.TextVerdict = known(string(d.Text.Verdict.Verdict))
	}
	if d.Failure != nil {
		it.Verdict, it.Failure = nil, known(failureOf(*d.Failure))
	}
	for _, t := range text.Turns {
		turn := Turn{Speaker: string(t.Speaker), Text: t.Text}
		if slug, ok := d.Casting.Voice(t.Speaker); ok {
			turn.Voice = known(slug)
		}
		it.Turns = append(it.Turns, turn)
	}
	if timeline != nil {
		it.place(*timeline)
	}
	return it
}

// place adds what the clip's timeline says.
func (it *Item) place(timeline audio.Timeline) {
	it.Synthetic, it.Synthesizer = &timeline.Synthetic, known(timeline.Provenance.Synthesizer)
	it.Seconds, it.Rate = seconds(timeline.Seconds), &timeline.Rate
	for _, span := range timeline.Turns {
		if span.Turn < 0 || span.Turn >= len(it.Turns) || span.End <= span.Start {
			continue
		}
		start, end := seconds(span.Start), seconds(span.End)
		turn := &it.Turns[span.Turn]
		turn.Start, turn.End, turn.Voice = &start, &end, known(span.Voice)
	}
}

// timed reports whether the place of any turn is known.
func (it Item) timed() bool {
	return slices.ContainsFunc(it.Turns, func(t Turn) bool { return t.Start != nil })
}

// spoken are the turns whose place in the clip is known and where somebody speaks: a
// turn without a word is silence.
func (it Item) spoken() []Turn {
	return slices.DeleteFunc(slices.Clone(it.Turns), func(t Turn) bool { return t.Start == nil || dialogue.Wordless(t.Text) })
}

func failureOf(f evaluation.Failure) string { return f.Stage + ": " + f.Code }

// known is nil for what is not known.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// writeLine writes a value as a line of JSON, text as it is.
func writeLine(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
