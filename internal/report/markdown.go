package report

import (
	"io"
	"slices"
	"strings"
	"unicode"
)

// WriteMarkdown writes the tables in the paper's layout as GitHub's Markdown.
func WriteMarkdown(w io.Writer, r Report) error {
	var b strings.Builder
	b.WriteString("# Evaluation " + markdown(r.Evaluation) + "\n")
	if r.Note != "" {
		b.WriteString("\n**" + markdown(r.Note) + "**\n")
	}
	for _, t := range paperTables(r) {
		b.WriteString("\n**" + markdown(t.Caption) + "**\n\n")
		markdownRow(&b, t.Columns)
		b.WriteString("|---" + strings.Repeat("|--:", len(t.Columns)-1) + "|\n")
		for i, row := range t.Rows {
			if i > 0 && slices.Contains(t.Rules, i) {
				markdownRow(&b, make([]string, len(t.Columns)))
			}
			markdownRow(&b, row)
		}
		for _, note := range t.Notes {
			b.WriteString("\n" + markdown(note) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownRow(b *strings.Builder, cells []string) {
	for _, cell := range cells {
		b.WriteString("| " + markdown(cell) + " ")
	}
	b.WriteString("|\n")
}

// markdown escapes text: whatever could be markup, HTML, a link or a table's border
// is itself. What isn't printable is written out, so that text stays one line.
func markdown(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		s = escape(s)
	}
	var b strings.Builder
	for i, r := range s {
		// A dot links only behind www.
		if strings.ContainsRune("\\`*_{}[]<>#|~&!@:$", r) || r == '.' && strings.HasSuffix(strings.ToLower(s[:i]), "www") {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
