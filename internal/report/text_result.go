package report

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// result writes everything about one set of items, beside people where they decide
// exactly these.
func (t *text) result(title string, r score.Result, people ...People) {
	c := r.Classification
	t.line("%s: n = %d (%d decided, %d unresolved, %d failed)", title, r.N, c.Decided, c.Unresolved, c.Failed)
	t.table(
		"truth\tcalled YES\tcalled NO\tUNRESOLVED\tfailed",
		fmt.Sprintf("YES\t%d\t%d\t%d\t%d", r.Confusion.Yes.Yes, r.Confusion.Yes.No, r.Confusion.Yes.Unresolved, r.Failed.Yes),
		fmt.Sprintf("NO\t%d\t%d\t%d\t%d", r.Confusion.No.Yes, r.Confusion.No.No, r.Confusion.No.Unresolved, r.Failed.No),
	)
	if c.Decided == 0 {
		t.prose("Every figure is undefined: no item with truth is decided.")
		t.line("")
		return
	}
	balanced := c.Intervals.BalancedAccuracy
	t.table(
		"\tvalue\t95% interval\topen items all wrong\tall right",
		t.interval("recall", c.Intervals.Recall, c.Worst.Yes.Recall, c.Best.Yes.Recall),
		t.interval("specificity", c.Intervals.Specificity, c.Worst.No.Recall, c.Best.No.Recall),
		t.interval("balanced accuracy", score.Rate{N: balanced.N, Value: balanced.Value, Low: balanced.Low, High: balanced.High}, c.Worst.BalancedAccuracy, c.Best.BalancedAccuracy),
		t.interval("accuracy", c.Intervals.Accuracy, c.Worst.Accuracy, c.Best.Accuracy),
	)
	if c.Intervals.Method == score.MethodBootstrap {
		t.prose("  Some dialogues stand several times (castings): these intervals are of a bootstrap over dialogues.")
		t.line("")
	}
	t.baselines(c, r.Baselines, people)
	t.prose("Precision, F1 and accuracy depend on how many items are manipulative, here %d of %d decided:", c.Yes.Support, c.Decided)
	t.table(
		"class\tP\tR\tF1\tsupport",
		t.class("YES", c.Yes), t.class("NO", c.No),
		t.average("macro", c.Macro), t.average("weighted", c.Weighted),
	)
	t.tactics("Tactics, truth YES", r.TacticsYes)
	t.tactics("Tactics, truth NO", r.TacticsNo)
	t.tacticAccuracy(r.TacticAccuracy)
}

// baselines writes what the verdicts reach beside rules that hear nothing of what is
// said, on the same items.
func (t *text) baselines(c score.Classification, baselines []score.Baseline, people []People) {
	rows := []string{
		fmt.Sprintf("on the same %d items\taccuracy\tbalanced\trecall\tspecificity\tmacro F1\tweighted F1", c.Decided),
		t.compared("the detector", c),
	}
	var notes []string
	for _, b := range baselines {
		name := "baseline " + b.Name
		switch {
		case b.Undefined != "":
			notes = append(notes, fmt.Sprintf("%s: undefined (%s)", name, b.Undefined))
			continue
		case b.Verdict == vote.No:
			name += " (NO)"
		}
		rows = append(rows, t.compared(name, b.Classification))
		if b.Fitted != nil {
			notes = append(notes, fmt.Sprintf("%s judges each clip by a rule from the others (leave one out); the best rule fitted to these very items has balanced accuracy %s", name, word(*b.Fitted)))
		}
	}
	for _, p := range people {
		if p.Compared == p.Scored {
			rows = append(rows, t.compared(fmt.Sprintf("people, by %s", p.Modality), p.People))
		}
	}
	t.rows(rows...)
	for _, note := range notes {
		t.prose("  %s", note)
	}
	t.line("")
}

func (t *text) tactics(title string, table score.TacticTable) {
	if table.N == 0 {
		return
	}
	t.line("%s: %d called YES", title, table.N)
	var rows []string
	for _, row := range table.Rows {
		rows = append(rows, fmt.Sprintf("%s\t%d\t%.2f%%", row.Tactic, row.Count, row.Percent))
	}
	if table.Undetermined > 0 {
		rows = append(rows, fmt.Sprintf("undetermined\t%d\t%.2f%%", table.Undetermined, 100*float64(table.Undetermined)/float64(table.N)))
	}
	t.table(rows...)
}

func (t *text) tacticAccuracy(a score.TacticAccuracy) {
	if a.Named == 0 {
		return
	}
	t.prose("Tactic accuracy, of %d manipulative %s with named techniques (end to end with the open ones all wrong %s, all right %s):",
		a.Named, plural(a.Named, "dialogue"), word(a.Worst), word(a.Best))
	t.table(
		"\thits\tvalue\t95% interval\talways the most frequent",
		t.hit("of those called YES", a.Conditional), t.hit("end to end", a.EndToEnd),
	)
}

func (t *text) class(name string, c score.Class) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%d", name, t.figure(c.Precision), t.figure(c.Recall), t.figure(c.F1), c.Support)
}

func (t *text) average(name string, a score.Average) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t", name, t.figure(a.Precision), t.figure(a.Recall), t.figure(a.F1))
}

func (t *text) interval(name string, r score.Rate, worst, best score.Figure) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", name, t.figure(r.Value), bounds(r), t.figure(worst), t.figure(best))
}

func (t *text) compared(name string, c score.Classification) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", name, t.figure(c.Accuracy), t.figure(c.BalancedAccuracy),
		t.figure(c.Yes.Recall), t.figure(c.No.Recall), t.figure(c.Macro.F1), t.figure(c.Weighted.F1))
}

func (t *text) hit(name string, h score.TacticHit) string {
	constant := "-"
	if h.Constant != "" {
		constant = fmt.Sprintf("%s (%s)", t.figure(h.ConstantRate.Value), h.Constant)
	}
	return fmt.Sprintf("%s\t%d of %d\t%s\t%s\t%s", name, h.Hits, h.N, t.figure(h.Value), bounds(h.Rate), constant)
}

func bounds(r score.Rate) string {
	if !r.Low.Defined {
		return "-"
	}
	return fmt.Sprintf("%.3f to %.3f (n = %d)", r.Low.Value, r.High.Value, r.N)
}
