package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// maxListed bounds the lists of a text report; the other forms have all.
const maxListed = 20

// WriteText writes the report for a terminal.
func WriteText(w io.Writer, r Report) error {
	t := &text{w: w}
	t.heading(r)
	t.result("Result on unseen dialogues", r.Result)
	t.unlabelled(r)
	t.seen(r.Seen)
	t.quality(r)
	t.failures(r.Failures)
	t.made(r)
	t.settings(r)
	return t.err
}

// text writes sections and keeps the first error.
type text struct {
	w   io.Writer
	err error
}

func (t *text) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// table writes rows whose cells are tab-separated.
func (t *text) table(rows ...string) {
	if t.err != nil {
		return
	}
	tw := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(tw, "  "+row)
	}
	t.err = tw.Flush()
}

func (t *text) heading(r Report) {
	spec := r.Settings.Spec
	t.line("Evaluation %s", r.Evaluation)
	if r.Note != "" {
		t.line("** %s **", printable(r.Note))
	}
	t.line("%s, %d dialogues, by %s (%s), rules %s", printable(spec.Dataset.Name), r.Items, printable(spec.Detection.Detector), printable(spec.Detection.ModelName), printable(spec.Rules.Name))
	if r.Pending > 0 {
		t.line("NOT FINISHED: %d dialogues have no record yet", r.Pending)
	}
	if len(r.Exemplars) > 0 {
		t.line("%d exemplars are left out of all figures", len(r.Exemplars))
	}
	t.line("")
}

func (t *text) result(title string, r score.Result) {
	c := r.Classification
	t.line("%s: n = %d (%d decided, %d unresolved, %d failed)", title, r.N, c.Decided, c.Unresolved, c.Failed)
	t.table(
		"truth\tcalled YES\tcalled NO\tUNRESOLVED\tfailed",
		fmt.Sprintf("YES\t%d\t%d\t%d\t%d", r.Confusion.Yes.Yes, r.Confusion.Yes.No, r.Confusion.Yes.Unresolved, r.Failed.Yes),
		fmt.Sprintf("NO\t%d\t%d\t%d\t%d", r.Confusion.No.Yes, r.Confusion.No.No, r.Confusion.No.Unresolved, r.Failed.No),
	)
	t.line("")
	t.table(
		"class\tP\tR\tF1\tsupport",
		class("YES", c.Yes), class("NO", c.No),
		average("macro", c.Macro), average("weighted", c.Weighted),
	)
	t.line("")
	rows := []string{
		"\tvalue\t95% interval\topen items all wrong\tall right",
		interval("recall", c.Intervals.Recall, c.Worst.Yes.Recall, c.Best.Yes.Recall),
		interval("specificity", c.Intervals.Specificity, c.Worst.No.Recall, c.Best.No.Recall),
		interval("accuracy", c.Intervals.Accuracy, c.Worst.Accuracy, c.Best.Accuracy),
		fmt.Sprintf("balanced accuracy\t%s\t\t%s\t%s", figure(c.BalancedAccuracy), figure(c.Worst.BalancedAccuracy), figure(c.Best.BalancedAccuracy)),
	}
	for _, b := range r.Baselines {
		rows = append(rows, fmt.Sprintf("baseline %s\t%s\taccuracy, on the same items\t\t", b.Name, figure(b.Classification.Accuracy)))
	}
	t.table(rows...)
	t.line("")
	t.tactics("Tactics, truth YES", r.TacticsYes)
	t.tactics("Tactics, truth NO", r.TacticsNo)
	if a := r.TacticAccuracy; a.Named > 0 {
		t.line("Tactic accuracy, of %d manipulative dialogues with named techniques:", a.Named)
		t.table(
			"\thits\tvalue\t95% interval\talways the most frequent",
			hit("of those called YES", a.Conditional), hit("end to end", a.EndToEnd),
		)
		t.line("")
	}
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
	t.line("")
}

func (t *text) unlabelled(r Report) {
	for _, c := range r.Unlabelled {
		t.line("Without ground truth: %d called %s", c.Count, c.Verdict)
	}
	if len(r.Unlabelled) > 0 {
		t.line("")
	}
}

func (t *text) seen(s Seen) {
	if !s.Contaminated {
		return
	}
	t.line("CONTAMINATED: the detector was trained or tuned on %d of the dialogues; they are not in the figures above.", len(s.IDs))
	if s.Result != nil {
		t.result("Result on seen dialogues (no evidence)", *s.Result)
	}
}

func (t *text) quality(r Report) {
	q := r.Quality
	if q.Measured == 0 && len(q.Voices) == 0 && len(q.Flagged) == 0 {
		return
	}
	t.line("Quality: median word error rate of the recogniser %s over %d clips", optional("%.2f", q.MedianWER), q.Measured)
	if len(q.Voices) > 0 {
		rows := []string{"voice\tclips\tmedian WER\tmedian F0"}
		for _, v := range q.Voices {
			rows = append(rows, fmt.Sprintf("%s\t%d\t%s\t%s", printable(v.Voice), v.Clips, optional("%.2f", v.MedianWER), optional("%.0f Hz", v.MedianF0)))
		}
		t.table(rows...)
	}
	if len(q.Flagged) > 0 {
		t.line("Flagged, to be listened to (they are in all figures):")
		for i, f := range q.Flagged {
			if i == maxListed {
				t.line("  and %d more", len(q.Flagged)-maxListed)
				break
			}
			t.line("  %s: %s", printable(f.ID), printable(f.Reason))
		}
	}
	if w := q.WithoutFlagged; w != nil {
		t.line("Without the flagged: n = %d, accuracy %s (with them %s), balanced accuracy %s (%s)", w.N,
			figure(w.Classification.Accuracy), figure(r.Classification.Accuracy),
			figure(w.Classification.BalancedAccuracy), figure(r.Classification.BalancedAccuracy))
	}
	t.line("")
}

func (t *text) failures(failures []Failure) {
	if len(failures) == 0 {
		return
	}
	t.line("%d dialogues failed:", len(failures))
	for i, f := range failures {
		if i == maxListed {
			t.line("  and %d more", len(failures)-maxListed)
			break
		}
		t.line("  %s: %s: %s (%s)", printable(f.ID), printable(f.Stage), printable(f.Message), printable(f.Code))
	}
	t.line("")
}

func (t *text) made(r Report) {
	p, u := r.Passes, r.Usage
	t.line("Passes: %d constrained, %d fallback, %d INVALID, %d missing", p.Constrained, p.Fallback, p.Invalid, p.Missing)
	t.line("Made (and found stored): %d (%d) turns, %d (%d) clips, %d (%d) transcripts, %d (%d) detector answers; %d characters spoken",
		u.TurnsMade, u.TurnsStored, u.ClipsMade, u.ClipsStored, u.Recognized, u.RecognizedStored, u.PassesMade, u.PassesStored, u.Characters)
	if len(r.Tactics.Methods) > 0 {
		t.line("Tactics by %s; tactic_draw: %s%s", printable(strings.Join(r.Tactics.Methods, ", ")), r.Tactics.Draw, drawNote(r.Tactics.Draw))
	}
	if len(r.Tactics.LowConfidence) > 0 {
		t.line("Low confidence in: %s", printable(strings.Join(r.Tactics.LowConfidence, ", ")))
	}
	t.line("")
}

func drawNote(draw vote.DrawRule) string {
	if draw == vote.DrawScore {
		return " (one scoring, counted as every tactic pass: they are all equal)"
	}
	return ""
}

func (t *text) settings(r Report) {
	spec, e := r.Settings.Spec, r.Settings.Engines
	t.line("Settings (all of them are in report.json):")
	if spec.Dataset.Clips {
		t.line("  clips       given, not synthesised")
	} else {
		t.line("  speech      %s %s, pool %s, casting seed %d", printable(e.Speech.Name), printable(e.Speech.Version), printable(spec.Speech.Pool.Name), spec.Speech.CastingSeed)
		t.line("  clip        %d Hz, gap %g s, %g LUFS by %s, true peak <= %g dBTP", spec.Compose.Rate, spec.Compose.GapSeconds, spec.Compose.TargetLUFS, spec.Compose.Level, spec.Compose.TruePeakCeiling)
	}
	t.line("  recogniser  %s %s", printable(e.Recognizer.Name), printable(e.Recognizer.Version))
	t.line("  detector    %s, model %s, %s", printable(e.Detector.Detector), printable(e.Detector.Model), printable(e.Detector.Method))
	t.line("  passes      %d at temperature %g, top-p %g, seed %d, %s", spec.Rules.Passes, spec.Rules.Sampling.Temperature, spec.Rules.Sampling.TopP, spec.Detection.Seed, spec.Detection.Passes)
	t.line("  verdict     %s of %d; tactic margin %.3f; modality %s", spec.Rules.Label, spec.Rules.Quorum, float64(spec.Rules.TacticMargin)/float64(vote.One), spec.Detection.Modality)
}

func class(name string, c score.Class) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%d", name, figure(c.Precision), figure(c.Recall), figure(c.F1), c.Support)
}

func average(name string, a score.Average) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t", name, figure(a.Precision), figure(a.Recall), figure(a.F1))
}

func interval(name string, r score.Rate, worst, best score.Figure) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", name, figure(r.Value), bounds(r), figure(worst), figure(best))
}

func hit(name string, h score.TacticHit) string {
	constant := "-"
	if h.Constant != "" {
		constant = fmt.Sprintf("%s (%s)", figure(h.ConstantRate.Value), h.Constant)
	}
	return fmt.Sprintf("%s\t%d of %d\t%s\t%s\t%s", name, h.Hits, h.N, figure(h.Value), bounds(h.Rate), constant)
}

func bounds(r score.Rate) string {
	if !r.Low.Defined {
		return "-"
	}
	return fmt.Sprintf("%.3f to %.3f (n = %d)", r.Low.Value, r.High.Value, r.N)
}

func figure(f score.Figure) string {
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
// printable is escaped.
func printable(text string) string {
	quoted := fmt.Sprintf("%q", text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
