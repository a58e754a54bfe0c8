package report_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
)

// paperReport is of the paper's counts, with the people of its Table 6.
func paperReport(t *testing.T) report.Report {
	t.Helper()
	in := report.Input{Manifest: evaluation.Manifest{Spec: everything().Manifest.Spec}}
	for i, c := range paperClips() {
		r := judged(c.id, c.truth, strings.Map(settle, c.pattern))
		r.ClipSeconds = float64(20 + i%40)
		if c.tactic != "" {
			r = found(r, c.tactic, "")
		}
		in.Records = append(in.Records, r)
	}
	in.Manifest.Items = len(in.Records)
	in.Manifest.Spec.Dataset.Name, in.Manifest.Spec.Note = "mentalmanip_con.csv", ""
	r := build(t, in)
	r.AddPeople(table6Votes(), annotation.Rule{})
	return r
}

// settle makes every pass a constrained one.
func settle(letter rune) rune { return unicode.ToUpper(letter) }

// table6Votes are one vote an item and modality: of 50 items of either label, so
// many of the paper's majorities are YES and NO.
func table6Votes() annotation.Set {
	set := annotation.Set{Items: map[annotation.Modality][]string{}, Truth: map[string]dialogue.Truth{}}
	for _, m := range []annotation.Modality{annotation.Text, annotation.Audio} {
		called := map[annotation.Modality]map[dialogue.Truth]int{
			annotation.Text:  {dialogue.Yes: 31, dialogue.No: 9},
			annotation.Audio: {dialogue.Yes: 28, dialogue.No: 22},
		}[m]
		for _, truth := range []dialogue.Truth{dialogue.Yes, dialogue.No} {
			for i := range 50 {
				item := fmt.Sprintf("item-%s-%02d", truth, i)
				label := annotation.No
				if i < called[truth] {
					label = annotation.Yes
				}
				set.Truth[item] = truth
				set.Items[m] = append(set.Items[m], item)
				set.Annotations = append(set.Annotations, annotation.Annotation{Item: item, Modality: m, Annotator: "A", Label: label})
			}
		}
	}
	return set
}

// The paper's tables as its page has them, from its counts.
var paperMarkdown = map[string][]string{
	"Table 3": {
		"| Class | Precision | Recall | F1 | Support |",
		"|---|--:|--:|--:|--:|",
		"| YES | .845 | .348 | .493 | 250 |",
		"| NO | .312 | .822 | .453 | 90 |",
		"|  |  |  |  |  |",
		"| Macro avg. | .578 | .585 | .473 | 340 |",
		"| Weighted avg. | .704 | .474 | .482 | 340 |",
	},
	"Table 4": {
		"| Tactic | Count | % |",
		"|---|--:|--:|",
		"| Intimidation | 43 | 49.43 |",
		"| Persuasion or Seduction | 26 | 29.89 |",
		"| Shaming or Belittlement | 12 | 13.79 |",
		"| Accusation | 4 | 4.60 |",
		"| Playing Servant Role | 2 | 2.30 |",
	},
	"Table 5": {
		"| Persuasion or Seduction | 9 | 56.25 |",
		"| Intimidation | 6 | 37.50 |",
		"| Accusation | 1 | 6.25 |",
	},
	"Table 6": {
		"| Modality, label | YES | NO | Agreement | Kappa |",
		"|---|--:|--:|--:|--:|",
		"| text, YES | 31 | 19 | .72 | .44 |",
		"| text, NO | 9 | 41 |  |  |",
		"|  |  |  |  |  |",
		"| audio, YES | 28 | 22 | .56 | .12 |",
		"| audio, NO | 22 | 28 |  |  |",
	},
	"baselines": {
		"The baseline always-yes has accuracy .735 and macro F1 .424 on the same items.",
	},
	"headline": {
		"| Figure | Value | 95% interval | n | Open wrong | Open right | Always YES | Majority | Duration | People |",
		"|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
		"| recall | .348 | .292 to .409 | 250 | .348 | .348 | 1.000 | 1.000 | .280 | undefined |",
	},
}

func TestPaperTablesAsMarkdown(t *testing.T) {
	lines := strings.Split(write(t, report.WriteMarkdown, paperReport(t)), "\n")
	for name, want := range paperMarkdown {
		at := slices.Index(lines, want[0])
		if at < 0 {
			t.Errorf("%s: no line %q in\n%s", name, want[0], strings.Join(lines, "\n"))
			continue
		}
		if diff := cmp.Diff(want, lines[at:min(len(lines), at+len(want))]); diff != "" {
			t.Errorf("%s (-paper +here):\n%s", name, diff)
		}
	}
}

// LaTeX has the same cells, and nothing of Markdown.
func TestPaperTablesAsLaTeX(t *testing.T) {
	text := write(t, report.WriteLaTeX, paperReport(t))
	for name, want := range paperMarkdown {
		for _, line := range want {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if len(cells) < 2 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "|  |") {
				continue
			}
			row := strings.NewReplacer("%", `\%`).Replace(strings.Join(cells, " & "))
			if strings.HasSuffix(line, "|  |  |") {
				row += " &  & "
				row = strings.Replace(row, " |  &  & ", " &  & ", 1)
			}
			if !strings.Contains(text, strings.TrimRight(row, " &")) {
				t.Errorf("%s: no row %q in\n%s", name, row, text)
			}
		}
	}
	if strings.Count(text, `\begin{table}`) != strings.Count(text, `\end{table}`) || strings.Contains(text, "|") {
		t.Error("tables are not closed, or hold a border of Markdown's")
	}
}

// Text from outside is itself in both forms: a line stays a line, a cell a cell.
func TestTablesEscape(t *testing.T) {
	in := everything()
	in.Manifest.Spec.Dataset.Name = "a|b_c*[x](http://e.com)<b>&amp;\\input{x}$1^2~%#`y`\n| www.e.com |\x1b[2J"
	in.Manifest.Spec.Detection.ModelName = `\end{table}中`
	r := build(t, in)
	escaped := regexp.MustCompile(`\\[[:punct:]]`)
	for line := range strings.Lines(write(t, report.WriteMarkdown, r)) {
		if strings.HasPrefix(line, "|") && !strings.HasSuffix(line, "|\n") {
			t.Errorf("a row is broken: %q", line)
		}
		left := strings.Trim(escaped.ReplaceAllString(line, ""), "#*\n") // our own headings and bold captions
		if !strings.HasPrefix(line, "|") && strings.ContainsAny(left, "\\`*_{}[]<>#|~&!@:$\x1b") || strings.Contains(left, "www.") {
			t.Errorf("Markdown has markup of others: %s", line)
		}
	}
	text := write(t, report.WriteLaTeX, r)
	for line := range strings.Lines(text) {
		left := escaped.ReplaceAllString(strings.NewReplacer("{[}", "", "{]}", "").Replace(line), "")
		if !strings.Contains(line, " & ") && strings.ContainsAny(left, "&") || strings.ContainsAny(left, "$#%_~^|<>\"`[]\x1b中") && !strings.HasPrefix(line, `\begin{table}[t]`) && !strings.HasPrefix(line, `\label`) {
			t.Errorf("LaTeX has markup of others: %s", left)
		}
		if strings.Count(left, "{") != strings.Count(left, "}") {
			t.Errorf("braces don't match: %s", line)
		}
	}
	if strings.Contains(text, `\input`) {
		t.Error("LaTeX reads a file")
	}
	if n := strings.Count(text, `\end{table}`); n != strings.Count(text, `\begin{table}`) {
		t.Errorf("a name closes a table: %d ends", n)
	}
	if !strings.Contains(text, `\textbackslash{}end\{table\}{[}U+4E2D{]}`) {
		t.Errorf("LaTeX doesn't show the model's name:\n%.600s", text)
	}
}

// Where LaTeX is installed it takes the tables, those with hostile names too.
func TestLaTeXCompiles(t *testing.T) {
	pdflatex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is not installed (Debian: texlive-latex-base)")
	}
	in := paid()
	in.Manifest.Spec.Dataset.Name = "a|b_c*[x]<b>&\\input{x}$1^2~%#`y`\"--\"\n中é"
	r := build(t, in)
	r.AddPeople(table6Votes(), annotation.Rule{})
	tables := write(t, report.WriteLaTeX, r)
	file := filepath.Join(t.TempDir(), "tables.tex")
	if err := os.WriteFile(file, []byte("\\documentclass{article}\n\\begin{document}\n"+tables+"\\end{document}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pdflatex, "-interaction=nonstopmode", "-halt-on-error", "-output-directory", filepath.Dir(file), file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("pdflatex: %v\n%s", err, out)
	}
}
