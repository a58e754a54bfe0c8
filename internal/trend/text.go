package trend

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
)

const (
	dateFormat = "2006-01-02 15:04:05Z"
	maxQuoted  = 600 // characters of one text from outside
)

// WriteText writes a history for a terminal. Text from outside is escaped.
func WriteText(w io.Writer, h History) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "schedule %s: the clips of %s, judged again\n", h.Schedule.ID, h.Schedule.Baseline)
	for _, line := range h.Lines() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if a := h.Actions; a != nil && a.Paused {
		fmt.Fprintf(&b, "  PAUSED: %s\n", printable(a.Note))
	}
	b.WriteByte('\n')
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  due\tevaluation\tstate\t"+strings.Join(figureNames, "\t")+"\tregression\tchanged\tcanary")
	for _, r := range h.Firings {
		cells := []string{r.Due.UTC().Format(dateFormat), r.Evaluation, r.State}
		for _, name := range figureNames {
			cells = append(cells, word(r.figure(name).Value))
		}
		cells = append(cells, r.regression(), r.cause(), r.canary())
		fmt.Fprintln(table, "  "+strings.Join(cells, "\t"))
	}
	table.Flush() // a buffer takes everything
	b.WriteByte('\n')
	for _, r := range h.Firings {
		for _, line := range r.findings() {
			fmt.Fprintf(&b, "%s: %s\n", r.Evaluation, line)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

var figureNames = []string{"recall", "specificity", "balanced accuracy", "accuracy"}

func (r Row) figure(name string) evaluation.Tracked {
	if r.Outcome != nil {
		for _, f := range r.Outcome.Figures {
			if f.Name == name {
				return f
			}
		}
	}
	return evaluation.Tracked{Name: name}
}

func (r Row) regression() string {
	if r.Outcome == nil {
		return "-"
	}
	if r.Outcome.Regression == evaluation.RegressionShown {
		return "SHOWN"
	}
	return string(r.Outcome.Regression)
}

func (r Row) cause() string {
	if r.Outcome == nil {
		return "-"
	}
	return string(r.Outcome.Drift.Cause)
}

func (r Row) canary() string {
	if r.Outcome == nil || r.Outcome.Drift.Canary.Items == 0 {
		return "-"
	}
	return r.Outcome.Drift.Canary.Words()
}

// findings are what a person should read of a firing, made printable: why it didn't end
// well, what was lost, and what has changed.
func (r Row) findings() []string {
	var out []string
	switch {
	case r.Outcome != nil:
		out = r.Outcome.Findings()
	case r.Why != "":
		out = []string{r.State + ": " + r.Why}
	}
	for i := range out {
		out[i] = printable(out[i])
	}
	return out
}

func word(f score.Figure) string {
	if !f.Defined {
		return "-"
	}
	return fmt.Sprintf("%.3f", f.Value)
}

// printable keeps text from outside from steering a terminal, and cuts what is long.
func printable(s string) string {
	if runes := []rune(s); len(runes) > maxQuoted {
		s = string(runes[:maxQuoted]) + "..."
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
