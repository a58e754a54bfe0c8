package export

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// interval is a part of a tier. Intervals of a tier follow each other without a gap,
// from 0 to the clip's end.
type interval struct {
	from, to seconds
	text     string
}

// writeTextGrid writes Praat's long text form in UTF-8, with a tier for each speaker
// who says something, in the order of their first appearance.
func writeTextGrid(w io.Writer, it Item) error {
	var speakers []string
	turns := map[string][]Turn{}
	end := it.Seconds
	for _, t := range it.spoken() {
		if !slices.Contains(speakers, t.Speaker) {
			speakers = append(speakers, t.Speaker)
		}
		turns[t.Speaker] = append(turns[t.Speaker], t)
		end = max(end, *t.End)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0 \nxmax = %s \ntiers? <exists> \nsize = %d \nitem []: \n", end, len(speakers))
	for i, speaker := range speakers {
		tier := tierOf(turns[speaker], end)
		fmt.Fprintf(&b, "    item [%d]:\n        class = \"IntervalTier\" \n        name = %s \n        xmin = 0 \n        xmax = %s \n        intervals: size = %d \n",
			i+1, praatText(speaker), end, len(tier))
		for j, in := range tier {
			fmt.Fprintf(&b, "        intervals [%d]:\n            xmin = %s \n            xmax = %s \n            text = %s \n", j+1, in.from, in.to, praatText(in.text))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// tierOf fills the time between a speaker's turns, which are in order and don't overlap,
// with silence. Times are compared as they are written.
func tierOf(turns []Turn, end seconds) []interval {
	var tier []interval
	at := seconds(0)
	fill := func(to seconds) {
		if at.String() != to.String() {
			tier = append(tier, interval{at, to, ""})
		}
		at = to
	}
	for _, t := range turns {
		if *t.Start < at || t.Start.String() == t.End.String() {
			continue
		}
		fill(*t.Start)
		tier = append(tier, interval{at, *t.End, t.Text})
		at = *t.End
	}
	fill(end)
	return tier
}

// praatText quotes a text as Praat does: a quote within is doubled. Line breaks and
// other control characters become spaces.
func praatText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
