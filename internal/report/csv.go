package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// WriteDialoguesCSV writes one row a dialogue.
func WriteDialoguesCSV(w io.Writer, r Report) error {
	rows := [][]string{{
		"id", "truth", "tactics", "verdict", "votes_yes", "votes_no", "votes_invalid", "tactic", "tactic_gain",
		"quote", "quote_start", "quote_end", "voices", "clip_seconds", "wer", "seen", "flagged", "failure", "clip",
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
		rows = append(rows, row)
	}
	return writeRows(w, rows)
}

// WritePassesCSV writes one row a pass.
func WritePassesCSV(w io.Writer, r Report) error {
	rows := [][]string{{"id", "pass", "vote", "method", "p_yes", "p_yes_observed", "seed", "object"}}
	for _, d := range r.Dialogues {
		for _, p := range d.Passes {
			rows = append(rows, []string{
				cell(d.ID), strconv.Itoa(p.Index), string(p.Vote), string(p.Method),
				probability(p.PYes.P), strconv.FormatBool(p.PYes.Observed), strconv.FormatInt(p.Seed, 10), cell(p.Ref.Key),
			})
		}
	}
	return writeRows(w, rows)
}

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
