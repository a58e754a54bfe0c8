package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// WriteLaTeX writes the tables in the paper's layout as LaTeX that needs no package:
// a file to be \input.
func WriteLaTeX(w io.Writer, r Report) error {
	var b strings.Builder
	for _, t := range paperTables(r) {
		b.WriteString("\\begin{table}[t]\n\\centering\\small\n\\begin{tabular}{l" + strings.Repeat("r", len(t.Columns)-1) + "}\n\\hline\n")
		latexRow(&b, t.Columns)
		b.WriteString("\\hline\n")
		for i, row := range t.Rows {
			if i > 0 && slices.Contains(t.Rules, i) {
				b.WriteString("\\hline\n")
			}
			latexRow(&b, row)
		}
		b.WriteString("\\hline\n\\end{tabular}\n\\caption{" + latex(t.Caption))
		for _, note := range t.Notes {
			b.WriteString(" " + latex(note))
		}
		b.WriteString("}\n\\label{tab:" + t.Label + "}\n\\end{table}\n\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func latexRow(b *strings.Builder, cells []string) {
	for i, cell := range cells {
		if i > 0 {
			b.WriteString(" & ")
		}
		b.WriteString(latex(cell))
	}
	b.WriteString(" \\\\\n")
}

// latexSpecials are what has a meaning in LaTeX, or another look than its own.
var latexSpecials = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `\textless{}`, `>`, `\textgreater{}`, `|`, `\textbar{}`,
	`"`, `\char34{}`, "`", `\char96{}`, `--`, `-{}-`, `[`, `{[}`, `]`, `{]}`,
)

// latex escapes text. Letters that LaTeX doesn't know without a package are written
// as their code points, what isn't printable by its escape.
func latex(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		s = escape(s)
	}
	var b strings.Builder
	for _, r := range s {
		if r > unicode.MaxLatin1 && !strings.ContainsRune("‘’“”–—…", r) {
			fmt.Fprintf(&b, "[U+%04X]", r)
			continue
		}
		b.WriteRune(r)
	}
	return latexSpecials.Replace(b.String())
}
