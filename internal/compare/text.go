package compare

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
)

const (
	// maxListed bounds the lists of the text form; the others have all.
	maxListed = 40
	// maxQuoted bounds one text from outside, in characters.
	maxQuoted = 200
)

// WriteText writes a comparison for a terminal. Text from outside is escaped.
func WriteText(w io.Writer, c Comparison) error {
	t := &text{}
	t.heading(c)
	for i, d := range c.Differences {
		t.difference(c.Evaluations[0], c.Evaluations[i+1], d)
	}
	t.tests(c)
	for _, l := range c.Checks {
		t.line("%s", l.Sentence())
	}
	if len(c.Checks) > 0 {
		t.line("")
	}
	t.settings(c)
	t.flips(c)
	t.leftOut(c)
	_, err := w.Write(t.Bytes())
	return err
}

type text struct{ bytes.Buffer }

func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// table writes rows whose cells are tab-separated, and an empty line.
func (t *text) table(rows ...string) {
	var b bytes.Buffer
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(tw, "  "+row)
	}
	tw.Flush() // a buffer takes everything
	for row := range strings.Lines(b.String()) {
		t.line("%s", strings.TrimRight(row, " \n"))
	}
	t.line("")
}

func (t *text) heading(c Comparison) {
	rows := []string{"evaluation\tdataset\tdetector\tmodality\tdialogues\tfailed here\tsame clips"}
	for _, s := range c.Evaluations {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%d of %d", s.Evaluation, printable(s.Dataset), printable(s.by()), s.Modality, s.Items, s.Failed, s.SameClips, s.WithClips))
	}
	t.line("%d dialogues%s are in all evaluations, unseen, with the same text and truth%s:", c.Paired, castingsOf(c.Several), unlabelled(c.Unlabelled))
	t.table(rows...)
	for _, s := range c.Evaluations {
		for _, warning := range s.warnings() {
			t.line("%s", warning)
		}
	}
}

func unlabelled(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d without truth, in no figure)", n)
}

// castingsOf says of how many dialogues there are several castings.
func castingsOf(dialogues int) string {
	if dialogues == 0 {
		return ""
	}
	return fmt.Sprintf(" (castings of %d, each a dialogue here)", dialogues)
}

// by is who judged.
func (s Side) by() string {
	if s.Model == "" {
		return s.Detector
	}
	return fmt.Sprintf("%s (%s)", s.Detector, s.Model)
}

// warnings say what to know before a figure is believed.
func (s Side) warnings() []string {
	var out []string
	if s.Note != "" {
		out = append(out, fmt.Sprintf("** %s: %s **", s.Evaluation, printable(s.Note)))
	}
	if s.Pending > 0 {
		out = append(out, fmt.Sprintf("NOT FINISHED: %s has no record yet of %d dialogues", s.Evaluation, s.Pending))
	}
	if s.Seen > 0 {
		out = append(out, fmt.Sprintf("CONTAMINATED: the detector of %s was trained or tuned on %d of its dialogues; they are left out of the comparison", s.Evaluation, s.Seen))
	}
	return out
}

func (t *text) difference(first, other Side, d Difference) {
	t.line("%s against %s, on the dialogues that both decide:", other.Evaluation, first.Evaluation)
	rows := []string{"\tn\tfirst\tnow\tdifference\t95% interval\tgained\tlost\topen\twith open ones"}
	for _, m := range d.figures() {
		counts := []string{fmt.Sprint(m.N), fmt.Sprint(m.Gained), fmt.Sprint(m.Lost), fmt.Sprint(m.Open)}
		if m.balanced {
			counts = []string{"", "", "", ""}
		}
		rows = append(rows, strings.Join([]string{m.Name, counts[0], figure(m.First), figure(m.Value), signed(m.Difference), interval(m.Low, m.High), counts[1], counts[2], counts[3], interval(m.Lowest, m.Highest)}, "\t"))
	}
	t.table(rows...)
}

// named is a change with its name.
type named struct {
	Name string
	Change
	balanced bool // no counts
}

func (d Difference) figures() []named {
	return []named{
		{"recall", d.Recall, false}, {"specificity", d.Specificity, false},
		{"balanced accuracy", d.BalancedAccuracy, true}, {"accuracy", d.Accuracy, false},
	}
}

func (t *text) tests(c Comparison) {
	rows := []string{"exact McNemar\tp, Holm over all here\tp alone"}
	for _, test := range c.Tests {
		rows = append(rows, fmt.Sprintf("%s, truth %s\t%s\t%s", test.Evaluation, test.Truth, adjusted(test), p(test.P)))
	}
	t.table(rows...)
}

// adjusted says why a test can't be made only once.
func adjusted(test Test) string {
	if !test.Holm.Defined {
		return "-"
	}
	return p(test.Holm)
}

func (t *text) settings(c Comparison) {
	if len(c.Settings) == 0 {
		t.line("No setting differs.\n")
		return
	}
	t.line("Settings that differ, in the order of the evaluations:")
	for _, s := range c.Settings {
		values := make([]string, len(s.Values))
		for i, v := range s.Values {
			values[i] = printable(orUnset(v))
		}
		t.line("  %s: %s", printable(s.Name), strings.Join(values, " | "))
	}
	t.line("")
}

func orUnset(v string) string {
	if v == "" {
		return "(not set)"
	}
	return v
}

func (t *text) flips(c Comparison) {
	t.line("Dialogues with another outcome: %d of %d", len(c.Flips), c.Paired)
	for _, f := range c.Flips[:min(len(c.Flips), maxListed)] {
		t.line("  %s (truth %s)", printable(f.ID)+evaluation.CastingLabel(f.CastingNumber), truthWord(f.Truth))
		for i, o := range f.Outcomes {
			t.line("    %s: %s", c.Evaluations[i].Evaluation, o.sentence())
		}
	}
	t.more(len(c.Flips))
}

func (o Outcome) sentence() string {
	parts := []string{o.Verdict}
	if votes := o.votes(); votes != "" {
		parts = append(parts, votes)
	}
	if o.Failure != "" {
		parts = append(parts, printable(o.Failure))
	}
	if o.Tactic != "" {
		parts = append(parts, string(o.Tactic))
	}
	if o.Quote != "" {
		parts = append(parts, `"`+printable(o.Quote)+`"`)
	}
	return strings.Join(parts, ", ")
}

func (t *text) leftOut(c Comparison) {
	if len(c.LeftOut) == 0 {
		return
	}
	t.line("Left out: %d", len(c.LeftOut))
	for _, e := range c.LeftOut[:min(len(c.LeftOut), maxListed)] {
		t.line("  %s: %s", printable(e.ID)+evaluation.CastingLabel(e.CastingNumber), printable(e.Reason))
	}
	t.more(len(c.LeftOut))
}

func (t *text) more(n int) {
	if n > maxListed {
		t.line("  and %d more (--format json has all)", n-maxListed)
	}
	t.line("")
}

func figure(f score.Figure) string { return formatted("%.3f", f) }
func signed(f score.Figure) string { return formatted("%+.3f", f) }
func p(f score.Figure) string      { return formatted("%.4f", f) }

func formatted(format string, f score.Figure) string {
	if !f.Defined {
		return "undefined (" + f.Reason + ")"
	}
	return fmt.Sprintf(format, f.Value)
}

func interval(low, high score.Figure) string {
	if !low.Defined || !high.Defined {
		return "-"
	}
	return fmt.Sprintf("%+.3f to %+.3f", low.Value, high.Value)
}

// printable keeps text from outside from steering a terminal, and cuts what is long.
func printable(s string) string {
	if runes := []rune(s); len(runes) > maxQuoted {
		s = string(runes[:maxQuoted]) + "..."
	}
	quoted := fmt.Sprintf("%q", s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
