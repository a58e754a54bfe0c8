package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// breakdown is recall and specificity of parts of the headline items. It is for
// looking around: nothing in it is tested.
type breakdown struct {
	ID, Title, Note string
	Rows            []breakdownRow
}

type breakdownRow struct {
	Name                string
	N, Unresolved       int
	Recall, Specificity score.Rate
}

const confounded = "A dialogue is spoken by one casting, so that voice is confounded with dialogue: no difference here is an effect of a voice."

func breakDown(dialogues []Dialogue) []breakdown {
	return []breakdown{
		{"by-voice", "By voice", confounded, group(dialogues, voicesOf)},
		{"by-pair", "By voices together", confounded, group(dialogues, func(d Dialogue) []string {
			if len(d.Casting) == 0 {
				return nil
			}
			return []string{strings.Join(voicesOf(d), " + ")}
		})},
		{"by-length", "By length of the clip", "Parts of equal count.", group(dialogues, lengths(dialogues))},
		{"by-tactic", "By annotated tactic", "A dialogue counts under each of its tactics.", group(dialogues, annotated)},
	}
}

// annotated returns the tactics that a dialogue is annotated with.
func annotated(d Dialogue) []string {
	var out []string
	for _, t := range d.Record.Tactics {
		out = append(out, outside(string(t)))
	}
	return out
}

// voicesOf returns a dialogue's voices, each once, by name.
func voicesOf(d Dialogue) []string {
	var out []string
	for _, part := range d.Casting {
		out = union(out, outside(part.Voice))
	}
	slices.Sort(out)
	return out
}

// group counts every dialogue under each of its names, which are then in order.
func group(dialogues []Dialogue, names func(Dialogue) []string) []breakdownRow {
	parts := map[string]*score.Confusion{}
	for _, d := range dialogues {
		for _, name := range names(d) {
			if parts[name] == nil {
				parts[name] = &score.Confusion{}
			}
			row := &parts[name].No
			if d.Truth == dialogue.Yes {
				row = &parts[name].Yes
			}
			switch d.Verdict.Verdict {
			case vote.Yes:
				row.Yes++
			case vote.No:
				row.No++
			default:
				row.Unresolved++
			}
		}
	}
	var rows []breakdownRow
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		c := parts[name]
		open := c.Yes.Unresolved + c.No.Unresolved
		rows = append(rows, breakdownRow{
			Name: name, N: c.Yes.Decided() + c.No.Decided() + open, Unresolved: open,
			Recall:      score.Wilson(c.Yes.Yes, c.Yes.Decided()),
			Specificity: score.Wilson(c.No.No, c.No.Decided()),
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

// cause is what failures have in common.
type cause struct {
	Code    string
	Count   int
	Example Failure
}

// causes returns the most frequent first, equals by name.
func causes(failures []Failure) []cause {
	counts := map[string]cause{}
	for _, f := range failures {
		c, known := counts[f.Code]
		if !known {
			c = cause{Code: f.Code, Example: f}
		}
		c.Count++
		counts[f.Code] = c
	}
	return slices.SortedFunc(maps.Values(counts), func(a, b cause) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
}
