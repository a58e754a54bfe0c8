package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/speechmanip/speechmanip/internal/score"
)

// writeText prints the result for a person to read.
func (r agreementResult) writeText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, m := range r.Modalities {
		m.writeText(w)
	}
	if r.Paired != nil {
		r.Paired.writeText(w)
	}
	return w.Flush() // the first error of any write
}

func (m modalityAgreement) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s: %d items, %d votes of %d annotators (%s)\n", m.Modality, m.Items, m.Votes, len(m.Annotators), strings.Join(m.Annotators, ", "))
	fmt.Fprintf(w, "%s.\n", lines(m.RestsOn))
	if m.PostHoc != "" {
		fmt.Fprintf(w, "Chosen group, %s.\n", lines(m.PostHoc))
	}
	fmt.Fprintf(w, "\n  measure\tvalue\titems\t95%% interval\n")
	fmt.Fprintf(w, "  Krippendorff's alpha\t%s\n", m.Alpha.cells())
	fmt.Fprintf(w, "  Fleiss' kappa\t%s\n", m.Fleiss.cells())
	fmt.Fprintf(w, "  percent agreement\t%s\n", m.Percent.cells())
	for _, p := range m.Cohen {
		fmt.Fprintf(w, "  Cohen's kappa %s-%s\t%s\n", p.A, p.B, p.cells())
	}
	fmt.Fprintf(w, "\nPercent agreement: %d of %d pairs of votes on one item.\n", m.Percent.Agreeing, m.Percent.Pairs)
	fmt.Fprintf(w, "Intervals: %d draws, seed %d; %s.\n\n", m.Intervals.Draws, m.Intervals.Seed, lines(m.Intervals.Note))
	m.Truth.writeText(w, m.MinShare)
	m.Reference.writeText(w)
}

// lines puts each clause on a line of its own.
func lines(sentence string) string { return strings.ReplaceAll(sentence, "; ", ";\n  ") }

// cells are the table's cells after a measure's name.
func (c coefficient) cells() string {
	if !c.Value.Defined {
		return fmt.Sprintf("undefined\t%d\t%s", c.Items, c.Value.Reason)
	}
	return fmt.Sprintf("%.4f\t%d\t%s", c.Value.Value, c.Items, c.intervalText())
}

func (c coefficient) intervalText() string {
	if c.Interval == nil {
		return "none: " + c.NoInterval
	}
	text := fmt.Sprintf("%.2f to %.2f", c.Interval.Low, c.Interval.High)
	if c.Interval.Undefined > 0 {
		text += fmt.Sprintf(" (%d draws have no value)", c.Interval.Undefined)
	}
	return text
}

func (t truthAgreement) writeText(w io.Writer, minShare int) {
	fmt.Fprintln(w, "Majority against truth")
	if t.Undefined != "" {
		fmt.Fprintf(w, "  undefined: %s\n\n", t.Undefined)
		return
	}
	fmt.Fprintf(w, "  \tmajority YES\tNO\n")
	for i, name := range []string{"YES", "NO"} {
		fmt.Fprintf(w, "  truth %s\t%d\t%d\n", name, t.Table[i][0], t.Table[i][1])
	}
	fmt.Fprintf(w, "  %s\n", t.sentence())
	if t.Unresolved > 0 {
		fmt.Fprintf(w, "  UNRESOLVED for %s (%d): %s\n", below(minShare), t.Unresolved, firstOf(t.Open))
	}
	if t.Unlabelled > 0 {
		fmt.Fprintf(w, "  items without truth: %d\n", t.Unlabelled)
	}
	fmt.Fprintf(w, "  as the paper counted, ties as NO (rows %d %d / %d %d):\n    %s\n\n",
		t.AsPaper.Table[0][0], t.AsPaper.Table[0][1], t.AsPaper.Table[1][0], t.AsPaper.Table[1][1], t.AsPaper.sentence())
}

// below says what leaves an item UNRESOLVED.
func below(minShare int) string {
	if minShare == 0 {
		return "a tie or no vote"
	}
	return fmt.Sprintf("a tie, no vote, or a majority below %d%%", minShare)
}

// firstOf lists the first of many names.
func firstOf(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func (t truthCount) sentence() string {
	if t.Items == 0 {
		return "no item is decided"
	}
	return fmt.Sprintf("%d of %d agree: %.2f (95%% Wilson %.2f to %.2f, includes chance), kappa %s",
		t.Agree, t.Items, t.Share.Value.Value, t.Share.Low.Value, t.Share.High.Value, word(t.Kappa, "%.2f"))
}

// word is a figure in prose.
func word(f score.Figure, format string) string {
	if !f.Defined {
		return "undefined (" + f.Reason + ")"
	}
	return fmt.Sprintf(format, f.Value)
}

func (r reference) writeText(w io.Writer) {
	fmt.Fprintln(w, "Human reference: one annotator against the consensus of the item's others (no ceiling for a model)")
	fmt.Fprintf(w, "  all: %d of %d votes agree, %s; %d not compared, the others being UNRESOLVED\n", r.Agree, r.Votes, word(r.Share, "%.2f"), r.Unresolved)
	var each []string
	for _, one := range r.Each {
		each = append(each, fmt.Sprintf("%s %d of %d", one.Annotator, one.Agree, one.Votes))
	}
	fmt.Fprintf(w, "  %s\n\n", strings.Join(each, ", "))
}

func (p pairedAgreement) writeText(w io.Writer) {
	fmt.Fprintf(w, "Text against audio (exact McNemar, two-sided)\n\n")
	fmt.Fprintf(w, "  \tn\tboth\tonly text\tonly audio\tneither\tp\n")
	for _, row := range []struct {
		name string
		paired
	}{
		{"vote is YES (same annotator, same item)", p.Votes},
		{"majority is YES (same item)", p.Majority},
		{"majority is the truth (same item)", p.Truth},
	} {
		fmt.Fprintf(w, "  %s\t%d\t%d\t%d\t%d\t%d\t%s\n", row.name, row.N, row.Both, row.OnlyText, row.OnlyAudio, row.Neither, word(row.P, "%.4f"))
	}
	fmt.Fprintf(w, "\nThe first row keeps annotator and item fixed, but takes votes as independent that share them.\n")
	if p.SameVoters < p.Items {
		fmt.Fprintf(w, "%d of %d items have other annotators in text than in audio: the other rows mix modality with annotators.\n",
			p.Items-p.SameVoters, p.Items)
	}
	if d := p.AlphaDifference; d.Value.Defined {
		fmt.Fprintf(w, "Alpha of text minus alpha of audio, same %d items and annotators: %.4f, 95%% interval %s.\n",
			d.Items, d.Value.Value, d.intervalText())
	} else {
		fmt.Fprintf(w, "Alpha of text and of audio are not compared: %s.\n", d.Value.Reason)
	}
}
