package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
)

// Breakdown is recall and specificity of parts of the headline items. It is for
// looking around: exploratory, nothing in it is tested.
type Breakdown struct {
	By    string         `json:"by"` // voice, voices, length, tactic or speakers
	Title string         `json:"title"`
	Note  string         `json:"note"`
	Rows  []BreakdownRow `json:"rows"`
}

// BreakdownRow is one part.
type BreakdownRow struct {
	Name        string  `json:"name"`
	N           int     `json:"n"`
	Unresolved  int     `json:"unresolved"`
	Failed      int     `json:"failed"`
	Recall      Bounded `json:"recall"`
	Specificity Bounded `json:"specificity"`
}

// Bounded is a rate of the decided items, and what it would be with the open ones.
type Bounded struct {
	score.Rate
	Worst score.Figure `json:"worst"` // with every UNRESOLVED and failed item wrong
	Best  score.Figure `json:"best"`  // with them right
}

const confounded = "A dialogue is spoken by one casting, so that voice is confounded with dialogue: no difference here is an effect of a voice."

// acrossDialogues is said of several castings.
const acrossDialogues = "Dialogues are compared with others here, which differ in their texts too: the voice effects compare each with itself."

// voiceNote says what the breakdowns by voice can't tell.
func voiceNote(dialogues []Dialogue) string {
	if slices.ContainsFunc(dialogues, func(d Dialogue) bool { return d.CastingNumber > 0 }) {
		return acrossDialogues
	}
	return confounded
}

// breakDown takes all dialogues.
func breakDown(dialogues []Dialogue, judgement view) []Breakdown {
	var headline []Dialogue
	for _, d := range dialogues {
		if !d.Seen && d.Truth != dialogue.Unknown {
			headline = append(headline, d)
		}
	}
	parts := func(names func(Dialogue) []string) []BreakdownRow { return group(headline, judgement, names) }
	return []Breakdown{
		{"voice", "By voice", voiceNote(headline), parts(voicesOf)},
		{"voices", "By voices together", voiceNote(headline), parts(func(d Dialogue) []string {
			if len(d.Casting) == 0 {
				return nil
			}
			return []string{strings.Join(voicesOf(d), " + ")}
		})},
		{"length", "By length of the clip", "Parts of equal count.", parts(lengths(headline))},
		{"tactic", "By annotated tactic", "A dialogue counts under each of its tactics.", parts(annotated)},
		{"speakers", "By number of speakers", "Speakers that were given a voice.", parts(func(d Dialogue) []string {
			if len(d.Casting) == 0 {
				return nil
			}
			return []string{fmt.Sprintf("%d %s", len(d.Casting), plural(len(d.Casting), "speaker"))}
		})},
	}
}

// annotated returns the tactics that a dialogue is annotated with.
func annotated(d Dialogue) []string {
	var out []string
	for _, t := range d.Record.Tactics {
		out = append(out, string(t))
	}
	return out
}

// voicesOf returns a dialogue's voices, each once, by name.
func voicesOf(d Dialogue) []string {
	var out []string
	for _, part := range d.Casting {
		out = union(out, part.Voice)
	}
	slices.Sort(out)
	return out
}

// group counts every dialogue under each of its names, which are then in order.
func group(dialogues []Dialogue, judgement view, names func(Dialogue) []string) []BreakdownRow {
	parts := map[string][]score.Item{}
	for i, it := range items(dialogues, judgement) {
		for _, name := range names(dialogues[i]) {
			parts[name] = append(parts[name], it)
		}
	}
	rows := []BreakdownRow{}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		c := score.ClassifyItems(parts[name])
		rows = append(rows, BreakdownRow{
			Name: name, N: c.N, Unresolved: c.Unresolved, Failed: c.Failed,
			Recall:      Bounded{c.Intervals.Recall, c.Worst.Yes.Recall, c.Best.Yes.Recall},
			Specificity: Bounded{c.Intervals.Specificity, c.Worst.No.Recall, c.Best.No.Recall},
		})
	}
	return rows
}

// lengths names a third of the dialogues by how long their clips are.
func lengths(dialogues []Dialogue) func(Dialogue) []string {
	var seconds []float64
	for _, d := range dialogues {
		if d.ClipSeconds > 0 {
			seconds = append(seconds, d.ClipSeconds)
		}
	}
	slices.Sort(seconds)
	if len(seconds) == 0 {
		return func(Dialogue) []string { return nil }
	}
	first, second := seconds[(len(seconds)-1)/3], seconds[(len(seconds)-1)*2/3]
	return func(d Dialogue) []string {
		switch {
		case d.ClipSeconds <= 0:
			return nil
		case d.ClipSeconds <= first:
			return []string{fmt.Sprintf("1: up to %.1f s", first)}
		case d.ClipSeconds <= second:
			return []string{fmt.Sprintf("2: above %.1f s, up to %.1f s", first, second)}
		default:
			return []string{fmt.Sprintf("3: above %.1f s", second)}
		}
	}
}
