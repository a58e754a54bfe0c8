package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// WriteDialoguesCSV writes one row a dialogue and casting. Of an evaluation of both modalities
// the columns without a prefix are of the clip. Votes are of both option orders
// together where both were asked.
func WriteDialoguesCSV(w io.Writer, r Report) error {
	rows := [][]string{{
		"id", "truth", "tactics", "verdict", "votes_yes", "votes_no", "votes_invalid", "tactic", "tactic_gain",
		"quote", "quote_start", "quote_end", "voices", "clip_seconds", "wer", "seen", "flagged", "failure", "clip",
		"majority", "verdict_ab", "verdict_ba", "quote_occurs",
		"text_verdict", "text_tactic", "text_majority", "text_verdict_ab", "text_verdict_ba", "text_quote", "text_quote_occurs",
		"calls", "credits", "money", "casting",
	}}
	for _, d := range r.Dialogues {
		row := []string{
			cell(d.ID), string(d.Truth), joinTactics(d.Record.Tactics), string(d.Verdict.Verdict),
			strconv.Itoa(d.Verdict.Yes), strconv.Itoa(d.Verdict.No), strconv.Itoa(d.Verdict.Invalid), "", "", "", "", "",
			voices(d), number(d.ClipSeconds), "", strconv.FormatBool(d.Seen), cell(strings.Join(d.Flagged, "; ")), "", cell(d.Clip.Key),
		}
		if d.Tactic != nil {
			row[7], row[8] = string(d.Tactic.Tactic), probability(d.Tactic.Gain)
		}
		if d.Evidence != nil {
			row[9], row[10], row[11] = cell(d.Evidence.Text), number(d.Evidence.Start), number(d.Evidence.End)
		}
		if d.Record.Quality != nil && d.Record.Quality.WERIsSet {
			row[14] = number(d.Record.Quality.WER)
		}
		if d.Failure != nil {
			row[17] = cell(d.Failure.Stage + ": " + d.Failure.Message)
		}
		row = append(row, majority(d.Judgement))
		row = append(row, orderVerdicts(d.Judgement)...)
		row = append(row, occurs(d.Evidence))
		row = append(row, textCells(d.Text)...)
		cost := price(d.Usage, r.Settings.Spec)
		row = append(row, strconv.Itoa(cost.Calls), strconv.Itoa(cost.Credits), money(cost), castingCell(d))
		rows = append(rows, row)
	}
	return writeRows(w, rows)
}

// castingCell is empty where a dialogue has one casting.
func castingCell(d Dialogue) string {
	if d.CastingNumber == 0 {
		return ""
	}
	return strconv.Itoa(d.CastingNumber)
}

// textCells are a dialogue's columns of judging the turns as written.
func textCells(j *evaluation.Judgement) []string {
	if j == nil {
		return make([]string, 7)
	}
	named, quote := "", ""
	if j.Tactic != nil {
		named = string(j.Tactic.Tactic)
	}
	if j.Evidence != nil {
		quote = cell(j.Evidence.Text)
	}
	orders := orderVerdicts(*j)
	return []string{string(j.Verdict.Verdict), named, majority(*j), orders[0], orders[1], quote, occurs(j.Evidence)}
}

// orderVerdicts are the verdicts of the option orders alone, where both were asked.
func orderVerdicts(j evaluation.Judgement) []string {
	if j.Swapped == nil {
		return []string{"", ""}
	}
	return []string{string(j.Swapped.Straight.Verdict), string(j.Swapped.Verdict.Verdict)}
}

// majority is that of the usual option order.
func majority(j evaluation.Judgement) string {
	if j.Analytic == nil {
		return ""
	}
	return probability(j.Analytic.Majority)
}

func occurs(e *evaluation.EvidenceRecord) string {
	if e == nil || e.Occurs == nil {
		return ""
	}
	return strconv.FormatBool(*e.Occurs)
}

func money(c Cost) string {
	if c.Currency == "" {
		return ""
	}
	return millionths(c.Money)
}

func millionths(m evaluation.Micros) string { return strconv.FormatFloat(float64(m)/1e6, 'f', 6, 64) }

// cell makes text from outside safe: a spreadsheet must not take it for a formula
// (it gets a quote mark before it), and a terminal must not obey it (what is not
// printable is escaped, so a row is always one line).
func cell(text string) string {
	mark := ""
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		mark = "'"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		text = escape(text)
	}
	return mark + text
}

// writeRows ends them in CRLF, as RFC 4180 has it.
func writeRows(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	return out.WriteAll(rows)
}

func voices(d Dialogue) string {
	parts := make([]string, len(d.Casting))
	for i, part := range d.Casting {
		parts[i] = string(part.Speaker) + "=" + part.Voice
	}
	return cell(strings.Join(parts, " "))
}

func joinTactics(tactics []tactic.Tactic) string {
	names := make([]string, len(tactics))
	for i, t := range tactics {
		names[i] = string(t)
	}
	return cell(strings.Join(names, ","))
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

func probability(p vote.Nano) string {
	return strconv.FormatFloat(float64(p)/float64(vote.One), 'f', 6, 64)
}
