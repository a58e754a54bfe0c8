package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/internal/score"
)

func (t *text) people(all []People) {
	for _, p := range all {
		t.prose("People who were given the %s, beside the detector by %s (a reference, no ceiling): of %d decided items %d are annotated, %d by one person only; on %d the consensus is UNRESOLVED; %d are compared:",
			p.Modality, p.Against, p.Scored, p.Annotated, p.SingleVote, p.Unresolved, p.Compared)
		if p.Compared > 0 {
			t.table(
				"on the same items\trecall\t95% interval\tspecificity\t95% interval\tbalanced\taccuracy",
				t.beside("the people's consensus", p.People), t.beside("the detector", p.Detector),
			)
			t.prose("  The detector agrees with the consensus on %d of %d (%s, %s).", p.Agree.Hits, p.Agree.N, word(p.Agree.Value), between(p.Agree.Low, p.Agree.High))
			l := p.LeaveOneOut
			t.prose("  On those of them with two votes or more, one person agrees with the consensus of the others in %d of %d votes (%s; %d not compared, as the others are tied), the detector with the consensus on %d of %d (%s).",
				l.Agree, l.Votes, word(l.Share), l.Unresolved, p.DetectorAgree.Hits, p.DetectorAgree.N, word(p.DetectorAgree.Value))
		}
		t.labels(p)
	}
}

// beside is a row of two that judged the same items.
func (t *text) beside(name string, c score.Classification) string {
	recall, specificity := c.Intervals.Recall, c.Intervals.Specificity
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", name, t.short(recall.Value), within(recall.Low, recall.High),
		t.short(specificity.Value), within(specificity.Low, specificity.High), t.short(c.BalancedAccuracy), t.short(c.Accuracy))
}

// labels writes the consensus against the labels, of all annotated items.
func (t *text) labels(p People) {
	l := p.Labels
	if l.Share.N == 0 {
		t.line("")
		return
	}
	t.prose("  All %d annotated items whose consensus is decided agree with their label in %d (%s, %s; kappa %s); %d are UNRESOLVED, with ties as NO it is %d of %d (%s; kappa %s).",
		l.Share.N, l.Share.Hits, word(l.Share.Value), between(l.Share.Low, l.Share.High), word(l.Kappa), l.Unresolved,
		l.AsPaper.Share.Hits, l.AsPaper.Share.N, word(l.AsPaper.Share.Value), word(l.AsPaper.Kappa))
	t.line("")
}

func (t *text) truths(all []Truths) {
	for _, truths := range all {
		t.prose("The same verdicts by %s against %d truths. Every truth decides %d of the unseen items, and on %d of these all are the same:", truths.Modality, len(truths.Sets), truths.Common, truths.Same)
		rows := []string{"truth\tYES:NO\tn\trecall\tspecificity\tbalanced\taccuracy\topen\tno truth"}
		row := func(name string, c score.Classification, missing string) {
			rows = append(rows, fmt.Sprintf("%s\t%d:%d\t%d\t%s\t%s\t%s\t%s\t%d\t%s", printable(name), c.Yes.Support, c.No.Support, c.Decided,
				t.short(c.Yes.Recall), t.short(c.No.Recall), t.short(c.BalancedAccuracy), t.short(c.Accuracy), c.N-c.Decided, missing))
		}
		for _, s := range truths.Sets {
			row(s.Name, s.Own, fmt.Sprint(s.Missing+s.Unresolved))
		}
		for _, s := range truths.Sets {
			row("  common, "+s.Name, s.OnCommon, "")
		}
		t.table(rows...)
		t.disagreements(truths)
	}
}

func (t *text) disagreements(truths Truths) {
	n := len(truths.Disagreements)
	if n == 0 {
		return
	}
	t.line("The truths differ on %d %s:", n, plural(n, "item"))
	t.list(n, func(i int) string {
		d := truths.Disagreements[i]
		var parts []string
		for k, s := range truths.Sets {
			part := fmt.Sprintf("%s %s", printable(s.Name), cmp.Or(string(d.Truths[k]), "-"))
			if d.Votes[k] != "" {
				part += " (" + d.Votes[k] + ")"
			}
			parts = append(parts, part)
		}
		return fmt.Sprintf("%s: %s; called %s by %s", id(d.ID, d.CastingNumber), strings.Join(parts, ", "), cmp.Or(string(d.Verdict), "failed"), truths.Modality)
	})
}
