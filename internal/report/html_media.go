package report

import (
	"slices"
	"strings"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// Media is what a page shows of the dialogues beside what the report holds, in each
// casting. A dialogue may be missing, and so may either part of one.
type Media map[evaluation.Rendition]DialogueMedia

// DialogueMedia is one dialogue's text, and where its clip is.
type DialogueMedia struct {
	Turns []MediaTurn
	Audio string // a URL, best relative to the page; "" where there is no clip
}

// MediaTurn is one turn as written. Start and End are its seconds in the clip,
// both 0 where they are not known.
type MediaTurn struct {
	Speaker, Text string
	Start, End    float64
}

// clips reports whether anything is to be played.
func (m Media) clips() bool {
	for _, d := range m {
		if d.Audio != "" {
			return true
		}
	}
	return false
}

// shownTurn is a turn with the quote in it marked: Before, Marked and After are
// the text. Evidence says that the quote is spoken in it.
type shownTurn struct {
	Speaker, Before, Marked, After string
	Start, End                     float64
	Evidence                       bool
}

func showTurns(turns []MediaTurn, e *evaluation.EvidenceRecord) []shownTurn {
	var out []shownTurn
	for _, t := range turns {
		s := shownTurn{Speaker: outside(t.Speaker), Before: outside(t.Text), Start: t.Start, End: t.End}
		if e != nil && e.Text != "" {
			s.Before, s.Marked, s.After = markQuote(s.Before, outside(e.Text))
			s.Evidence = s.Marked != "" || e.End > e.Start && t.Start < e.End && e.Start < t.End
		}
		out = append(out, s)
	}
	return out
}

// markQuote finds the first place of a quote in a text, whatever the case; where
// there is none, all of the text is before it.
func markQuote(text, quote string) (before, marked, after string) {
	lower := func(s string) []rune { return []rune(strings.Map(unicode.ToLower, s)) }
	haystack, needle := lower(text), lower(quote)
	runes := []rune(text) // as many: Map changes runes one by one
	for i := 0; i+len(needle) <= len(haystack) && len(needle) > 0; i++ {
		if slices.Equal(haystack[i:i+len(needle)], needle) {
			return string(runes[:i]), string(runes[i : i+len(needle)]), string(runes[i+len(needle):])
		}
	}
	return text, "", ""
}
