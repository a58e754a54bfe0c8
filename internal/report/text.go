package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/score"
)

const (
	// width bounds prose, in columns; no table of the report needs more either.
	width = 100
	// maxListed bounds the lists of a text report; the other forms have all.
	maxListed = 20
	// maxQuoted bounds one text from outside, in characters, for the same reason.
	maxQuoted = 400
)

// text writes lines and tables, and keeps the first error.
type text struct {
	w       io.Writer
	err     error
	reasons []string // of what is undefined in the table to come
}

func (t *text) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// prose writes words over as many lines as they need, all but the first indented
// by two more spaces. A word longer than a line is broken.
func (t *text) prose(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	indent := s[:len(s)-len(strings.TrimLeft(s, " "))]
	line, start := []rune(indent), len(indent)
	for word := range strings.FieldsSeq(s) {
		if len(line) > start && len(line)+1+utf8.RuneCountInString(word) > width {
			t.line("%s", string(line))
			line, start = []rune(indent+"  "), len(indent)+2
		}
		if len(line) > start {
			line = append(line, ' ')
		}
		line = append(line, []rune(word)...)
		for len(line) > width {
			t.line("%s", string(line[:width]))
			line, start = append([]rune(indent+"  "), line[width:]...), len(indent)+2
		}
	}
	t.line("%s", string(line))
}

// table writes rows and an empty line.
func (t *text) table(rows ...string) {
	t.rows(rows...)
	t.line("")
}

// rows writes rows whose cells are tab-separated, and the reasons of what is
// undefined in them.
func (t *text) rows(rows ...string) {
	var b bytes.Buffer
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(tw, "  "+row)
	}
	tw.Flush() // a buffer takes everything
	for row := range strings.Lines(b.String()) {
		t.line("%s", strings.TrimRight(row, " \n"))
	}
	for i, reason := range t.reasons {
		t.line("  [%d] %s", i+1, reason)
	}
	t.reasons = nil
}

// figure is a table's cell; the reason of an undefined one stands below the table.
func (t *text) figure(f score.Figure) string {
	if f.Defined {
		return fmt.Sprintf("%.3f", f.Value)
	}
	at := slices.Index(t.reasons, f.Reason)
	if at < 0 {
		at = len(t.reasons)
		t.reasons = append(t.reasons, f.Reason)
	}
	return fmt.Sprintf("undefined [%d]", at+1)
}

// list writes entries and an empty line.
func (t *text) list(n int, entry func(i int) string) {
	t.entries(n, entry)
	t.line("")
}

// entries writes the first of n entries, and how many more there are.
func (t *text) entries(n int, entry func(i int) string) {
	for i := range min(n, maxListed) {
		t.prose("  %s", entry(i))
	}
	if n > maxListed {
		t.line("  and %d more", n-maxListed)
	}
}

// word is a figure in prose.
func word(f score.Figure) string {
	if !f.Defined {
		return "undefined (" + f.Reason + ")"
	}
	return fmt.Sprintf("%.3f", f.Value)
}

func optional(format string, value *float64) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprintf(format, *value)
}

// printable keeps text from outside from steering a terminal: whatever is not
// printable is escaped, and what is too long cut.
func printable(s string) string {
	n := 0
	for at := range s {
		if n == maxQuoted {
			return escape(s[:at]) + "..."
		}
		n++
	}
	return escape(s)
}

func escape(s string) string {
	quoted := fmt.Sprintf("%q", s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
