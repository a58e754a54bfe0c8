package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// WriteText writes the report for a terminal of 100 columns. Text from outside is
// escaped; long lists and texts are cut, as the JSON form has all of them.
func WriteText(w io.Writer, r Report) error {
	t := &text{w: w}
	t.heading(r)
	t.headline(r)
	t.unlabelled(r)
	t.scheduled(r.Scheduled)
	if r.Modalities != nil {
		t.modalities(*r.Modalities, r.peopleBeside(detect.Text))
	}
	t.people(r.People)
	t.truths(r.Truths)
	t.tests(r.Tests)
	t.voiceEffects(r.Voices)
	t.seen(r.Seen)
	t.quality(r)
	t.failures(r.Failures)
	t.made(r)
	t.settings(r.Settings, r.Server)
	t.reading(r)
	return t.err
}

func (t *text) heading(r Report) {
	spec := r.Settings.Spec
	t.line("Evaluation %s", printable(r.Evaluation))
	if r.Note != "" {
		t.prose("** %s **", printable(r.Note))
	}
	model := cmp.Or(spec.Detection.ModelName, r.Settings.Engines.Detector.Model, "model not known yet")
	castings := ""
	if n := spec.Castings(); n > 1 {
		castings = fmt.Sprintf(" (a dialogue counts once in each of its %d castings)", n)
	}
	t.prose("%s, %d %s%s, by %s (%s), rules %s", printable(spec.Dataset.Name), r.Items, plural(r.Items, "dialogue"), castings,
		printable(spec.Detection.Detector), printable(model), printable(spec.Rules.Name))
	if r.Pending > 0 {
		t.line("NOT FINISHED: %d %s without a record yet", r.Pending, plural(r.Pending, "dialogue"))
	}
	if r.Seen.Contaminated {
		t.prose("CONTAMINATED: the detector was trained or tuned on %d of the dialogues; they are in no headline figure", r.Seen.N)
	}
	if n := len(r.Shown); n > 0 {
		ids := make([]string, n)
		for i, e := range r.Shown {
			ids[i] = printable(e.ID)
		}
		t.prose("Shown to the detector before every dialogue: %s", strings.Join(ids, ", "))
	}
	t.leftOut(r)
	t.line("")
}

func (t *text) leftOut(r Report) {
	n := len(r.Exemplars)
	if n == 0 {
		return
	}
	reasons := make([]string, len(r.LeftOut))
	for i, c := range r.LeftOut {
		reasons[i] = fmt.Sprintf("%d %s", c.Count, printable(c.Reason))
	}
	t.prose("Left out of all figures: %d (%s)", n, strings.Join(reasons, ", "))
	t.entries(n, func(i int) string {
		return id(r.Exemplars[i].ID, r.Exemplars[i].CastingNumber) + ": " + printable(r.Exemplars[i].Reason)
	})
}

func (t *text) headline(r Report) {
	title := "Result on unseen dialogues"
	if r.Modalities != nil {
		title = "Result by clip on unseen dialogues"
	}
	t.result(title, r.Result, r.peopleBeside(r.Settings.Spec.Detection.Modalities()[0])...)
	t.measures(r.Measures)
	t.answers(r.Answers)
}

func (t *text) unlabelled(r Report) {
	if all := r.Tactics.All; all.N > r.TacticsYes.N+r.TacticsNo.N {
		t.tactics("Tactics, of all unseen dialogues", all)
	}
	for _, c := range r.Unlabelled {
		t.line("Without ground truth: %d called %s", c.Count, c.Verdict)
	}
	if len(r.Unlabelled) > 0 {
		t.line("")
	}
}

func (t *text) seen(s Seen) {
	if s.Result != nil {
		t.result("Result on seen dialogues (no evidence)", *s.Result)
	}
	if s.Tactics != nil && s.Tactics.N > s.Result.TacticsYes.N+s.Result.TacticsNo.N {
		t.tactics("Tactics, of all seen dialogues", *s.Tactics)
	}
}

func (t *text) quality(r Report) {
	q := r.Quality
	if r.Settings.Spec.Quality.Off && q.Measured == 0 {
		t.line("Quality: clips were not measured (--quality off)")
		return
	}
	if q.Measured == 0 && len(q.Voices) == 0 && len(q.Flagged) == 0 {
		return
	}
	t.line("Quality: median word error rate of the recogniser %s over %d clips", optional("%.2f", q.MedianWER), q.Measured)
	rows := []string{"voice\tclips\tmedian WER\tmedian F0\tturns\tF0 outliers"}
	for _, v := range q.Voices {
		rows = append(rows, fmt.Sprintf("%s\t%d\t%s\t%s\t%d\t%d", printable(v.Voice), v.Clips, optional("%.2f", v.MedianWER), optional("%.0f Hz", v.MedianF0), v.Turns, v.Outliers))
	}
	t.table(rows...)
	if len(q.Flagged) == 0 {
		return
	}
	t.prose("Flagged, to be listened to (above a word error rate of %g, or more than %g semitones from the voice's median; they are in all figures):",
		q.Thresholds.MaxWER, q.Thresholds.MaxF0Semitones)
	t.list(len(q.Flagged), func(i int) string {
		return id(q.Flagged[i].ID, q.Flagged[i].CastingNumber) + ": " + printable(q.Flagged[i].Reason)
	})
	if q.WithoutFlagged != nil {
		t.table(
			"flagged clips\taccuracy\tbalanced\trecall\tspecificity\tmacro F1\tweighted F1",
			t.flagged("with", r.Result), t.flagged("without", *q.WithoutFlagged),
		)
	}
}

func (t *text) flagged(name string, r score.Result) string {
	return t.compared(fmt.Sprintf("%s (n = %d)", name, r.N), r.Classification)
}

func (t *text) failures(failures []Failure) {
	n := len(failures)
	if n == 0 {
		return
	}
	t.line("%d %s failed:", n, plural(n, "dialogue"))
	t.list(n, func(i int) string {
		f := failures[i]
		return fmt.Sprintf("%s: %s: %s (%s)", id(f.ID, f.CastingNumber), printable(f.Stage), printable(f.Message), printable(f.Code))
	})
}

func (t *text) made(r Report) {
	u := r.Usage
	t.passes("Passes", r.Passes)
	if r.Modalities != nil {
		t.passes("Passes by text", r.Modalities.Text.Passes)
	}
	t.prose("Made (and found stored): %d (%d) turns, %d (%d) clips, %d (%d) transcripts, %d (%d) detector answers; %d characters spoken",
		u.TurnsMade, u.TurnsStored, u.ClipsMade, u.ClipsStored, u.Recognized, u.RecognizedStored, u.PassesMade, u.PassesStored, u.Characters)
	t.cost(u, r.Cost)
	if r.Took != nil {
		t.prose("Time: %s", r.Took)
	}
	t.tacticMethods("Tactics", r.Tactics)
	if r.Modalities != nil {
		t.tacticMethods("Tactics by text", r.Modalities.Text.Tactics)
	}
	note := ""
	if r.Tactics.Draw == vote.DrawScore {
		note = " (one scoring, counted as every tactic pass: they are all equal)"
	}
	t.prose("tactic_draw: %s%s", r.Tactics.Draw, note)
	if len(r.Tactics.LowConfidence) > 0 {
		t.prose("Low confidence in: %s", printable(strings.Join(r.Tactics.LowConfidence, ", ")))
	}
	t.line("")
}

func (t *text) tacticMethods(title string, tactics Tactics) {
	if len(tactics.Methods) > 0 {
		t.prose("%s by %s", title, printable(strings.Join(tactics.Methods, ", ")))
	}
}

func (t *text) settings(s Settings, server []detect.Fact) {
	spec, e := s.Spec, s.Engines
	t.line("Settings (all of them are in the JSON form):")
	switch {
	case spec.Dataset.From != "":
		t.line("  clips: those of evaluation %s", printable(spec.Dataset.From))
	case spec.Dataset.Clips:
		t.line("  clips: given, not synthesised")
	default:
		t.prose("  speech: %s %s, pool %s, casting seed %d", printable(e.Speech.Name), printable(e.Speech.Version), printable(spec.Speech.Pool.Name), spec.Speech.CastingSeed)
		t.prose("  clip: %d Hz, gap %g s, %g LUFS by %s, true peak <= %g dBTP", spec.Compose.Rate, spec.Compose.GapSeconds, spec.Compose.TargetLUFS, spec.Compose.Level, spec.Compose.TruePeakCeiling)
	}
	t.prose("  recogniser: %s %s", printable(e.Recognizer.Name), printable(e.Recognizer.Version))
	t.prose("  detector: %s, model %s, %s", printable(e.Detector.Detector), printable(e.Detector.Model), printable(e.Detector.Method))
	if e.Swapped != (detect.Identity{}) {
		t.prose("  with the option letters exchanged: %s, model %s, %s", printable(e.Swapped.Detector), printable(e.Swapped.Model), printable(e.Swapped.Method))
	}
	for _, fact := range server {
		t.prose("  server: %s: %s", printable(fact.Name), printable(fact.Value))
	}
	t.prose("  passes: %d at temperature %g, top-p %g, seed %d, %s", spec.Rules.Passes, spec.Rules.Sampling.Temperature, spec.Rules.Sampling.TopP, spec.Detection.Seed, spec.Detection.Passes)
	if spec.Rules.Votes != vote.VotesSampled || spec.Detection.OptionOrder != "" {
		t.prose("  votes: %s%s", spec.Rules.Votes, optionOrder(spec.Detection))
	}
	t.prose("  verdict: %s; tactic margin %.3f; modality %s", label(spec.Rules), float64(spec.Rules.TacticMargin)/float64(vote.One), spec.Detection.Modality)
}

// label says how votes become a verdict.
func label(r vote.Rules) string {
	if r.Label == vote.LabelQuorum {
		return fmt.Sprintf("at least %d equal votes of %d, else UNRESOLVED", r.Quorum, r.Passes)
	}
	return "YES iff more YES than NO"
}

func optionOrder(d evaluation.Detection) string {
	if d.OptionOrder == "" {
		return ""
	}
	return "; option order " + printable(d.OptionOrder)
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
