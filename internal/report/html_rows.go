package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// row is one dialogue's line of the page.
type row struct {
	ID, Truth, Tactics string
	Verdict            string
	Votes, Passes      string
	Swapped            string // the passes with the letters exchanged
	Margin             int
	P                  string // the mean p(YES); "-" where it wasn't observed
	Tactic, TacticSays string
	Quote, At          string
	Text               *row // what was said of the turns as written, where both were judged
	Voices, Seconds    string
	Notes              []string // failure, flags, seen
	States             string   // what the page filters by
	Turns              []shownTurn
	Audio              string
}

func newRow(d Dialogue, media DialogueMedia) row {
	out := row{
		ID: rendition(d.ID, d.CastingNumber), Truth: "-", Tactics: outside(strings.Join(annotated(d), ", ")), Verdict: string(d.Verdict.Verdict), P: "-",
		Voices: outside(strings.Join(voicesOf(d), ", ")), Turns: showTurns(media.Turns, d.Evidence), Audio: media.Audio,
	}
	if d.Truth != dialogue.Unknown {
		out.Truth = string(d.Truth)
	}
	if d.ClipSeconds > 0 {
		out.Seconds = fmt.Sprintf("%.1f", d.ClipSeconds)
	}
	out.States = strings.Join(states(d), " ")
	if d.Failure != nil {
		out.Verdict = "failed"
		out.Notes = append(out.Notes, "failed: "+outside(d.Failure.Stage+": "+d.Failure.Message))
	} else {
		out.judge(d.Judgement)
	}
	if d.Seen {
		out.Notes = append(out.Notes, "seen in training: in no headline figure")
	}
	for _, reason := range d.Flagged {
		out.Notes = append(out.Notes, outside(reason))
	}
	if d.Text != nil {
		out.Text = &row{P: "-", Verdict: string(d.Text.Verdict.Verdict)}
		out.Text.judge(*d.Text)
	}
	return out
}

func (out *row) judge(j evaluation.Judgement) {
	orders := ordersOf(j)
	out.Margin = j.Verdict.Margin
	out.Votes = fmt.Sprintf("%d:%d", j.Verdict.Yes, j.Verdict.No)
	out.Passes = passesLine(orders[0])
	if len(orders) > 1 {
		out.Swapped = passesLine(orders[1])
	}
	if p, observed := orders[0].pYes(); observed {
		out.P = fmt.Sprintf("%.3f", p)
	}
	if t := j.Tactic; t != nil {
		out.Tactic = string(t.Tactic)
		if out.Tactic == "" {
			out.Tactic = "undetermined"
		}
		out.TacticSays = tacticVotes(t.Passes)
		if t.Second != "" {
			out.TacticSays += fmt.Sprintf("; %s is %.3f ahead of %s", t.Argmax, share(t.Gain), t.Second)
		}
	}
	if e := j.Evidence; e != nil && e.Text != "" {
		out.Quote = outside(e.Text)
		if e.End > e.Start {
			out.At = fmt.Sprintf("%.1f to %.1f s", e.Start, e.End)
		}
		if e.Occurs != nil && !*e.Occurs {
			out.At = strings.TrimPrefix(out.At+", not in the text", ", ")
		}
	}
}

// tacticVotes counts what the tactic passes say, in the order in which they first
// say it.
func tacticVotes(passes []vote.TacticLabel) string {
	var names []string
	counts := map[string]int{}
	for _, p := range passes {
		name := cmp.Or(string(p.Label), "can't say")
		names = union(names, name)
		counts[name]++
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%d\u00a0%s", counts[name], name)
	}
	return strings.Join(names, ", ")
}

// passesLine writes every pass's vote by its first letter, with its p(YES), and how it was had where
// not by a constrained answer.
func passesLine(o order) string {
	if a := o.analytic; a != nil {
		return fmt.Sprintf("not drawn: %.3f, most YES %.3f", share(a.Choice.Yes), share(a.Majority))
	}
	var parts []string
	for _, p := range o.passes {
		part := string(p.Vote[:min(1, len(p.Vote))])
		if p.PYes.Observed {
			part += fmt.Sprintf("\u00a0%.3f", share(p.PYes.P)) // never apart
		}
		if p.Method == vote.Parsed || p.Method == vote.Fallback {
			part += " " + string(p.Method)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// lowMargin is a lead of one vote or less; of votes that weren't drawn, a verdict
// that a quarter of all draws would not give.
func lowMargin(j evaluation.Judgement) bool {
	if j.Analytic != nil {
		return j.Analytic.Majority > vote.One/4 && j.Analytic.Majority < vote.One*3/4
	}
	return j.Verdict.Margin <= 1
}

// states are the words that the page filters by.
func states(d Dialogue) []string {
	var out []string
	add := func(is bool, state string) {
		if is {
			out = append(out, state)
		}
	}
	judged := d.Failure == nil
	decided := judged && (d.Verdict.Verdict == vote.Yes || d.Verdict.Verdict == vote.No)
	add(decided && d.Truth != dialogue.Unknown && string(d.Truth) != string(d.Verdict.Verdict), "wrong")
	add(judged && !decided, "unresolved")
	add(judged && lowMargin(d.Judgement), "low")
	add(len(d.Flagged) > 0, "flagged")
	add(!judged, "failed")
	add(d.Seen, "seen")
	return out
}
