package study

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// Export is what is given out of a study. Public forms have no times: how long somebody
// took, and when, says more about them than about an item.
type Export struct {
	Study   Study
	Batches []Batch  // ended ones, and open ones as far as they are
	Erased  []string // annotators of whom nothing is given out
}

// votes are the judgments that count as votes: none of adjudicators, attention checks
// or erased annotators. They are sorted by modality, item and annotator.
func (e Export) votes(m annotation.Modality) []given {
	var all []given
	for _, b := range e.kept() {
		if b.Assignment.Round > 0 || b.Assignment.Modality != m {
			continue
		}
		for _, j := range b.Judgments {
			if j.Item < len(e.Study.Items) && !e.Study.Items[j.Item].IsCheck() {
				all = append(all, given{b.Assignment, j})
			}
		}
	}
	slices.SortFunc(all, func(a, b given) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), strings.Compare(a.Annotator, b.Annotator))
	})
	return all
}

// given is a judgment with the assignment that it was given in.
type given struct {
	Assignment
	Judgment
}

func (e Export) kept() []Batch {
	return slices.DeleteFunc(slices.Clone(e.Batches), func(b Batch) bool { return slices.Contains(e.Erased, b.Assignment.Annotator) })
}

// WriteLong writes a row a vote, as `starter annotation agreement` reads it. Private
// has times and how the vote was given, for the study's leader alone.
func (e Export) WriteLong(w io.Writer, private bool) error {
	header := []string{"item", "modality", "annotator", "label", "truth"}
	if e.Study.Listening {
		header = append(header, "naturalness", "same_speaker")
	}
	if private {
		header = append(header, "time", "batch", "millis", "heard", "changes")
	}
	rows := [][]string{header}
	for _, m := range e.Study.Design.Modalities {
		for _, v := range e.votes(m) {
			item := e.Study.Items[v.Judgment.Item]
			row := []string{item.ID, string(m), v.Annotator, string(v.Label), string(item.Truth)}
			if e.Study.Listening {
				row = append(row, blank(v.Naturalness), string(v.SameSpeaker))
			}
			if private {
				row = append(row, v.Time.UTC().Format(time.RFC3339), v.Part(), strconv.Itoa(v.Millis), strconv.FormatBool(v.Heard), strconv.Itoa(v.Changes))
			}
			rows = append(rows, row)
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func blank(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// WriteWide writes a row an item of one modality and a column an annotator, as the
// paper's data has it.
func (e Export) WriteWide(w io.Writer, m annotation.Modality) error {
	if !slices.Contains(e.Study.Design.Modalities, m) {
		return fmt.Errorf("the study has no items in %s", m)
	}
	votes := e.votes(m)
	var names []string
	cells := map[string]string{}
	for _, v := range votes {
		names = append(names, v.Annotator)
		cells[fmt.Sprint(v.Judgment.Item, " ", v.Annotator)] = map[annotation.Label]string{annotation.Yes: "1", annotation.No: "0"}[v.Label]
	}
	slices.Sort(names)
	names = slices.Compact(names)
	header := append([]string{"ID", "MentalManip"}, names...)
	if m == annotation.Audio {
		header = append(header, "Audio File Name")
	}
	rows := [][]string{header}
	for i, item := range e.Study.Items {
		if item.IsCheck() {
			continue
		}
		row := []string{item.ID, map[string]string{"YES": "1", "NO": "0"}[string(item.Truth)]}
		for _, name := range names {
			row = append(row, cells[fmt.Sprint(i, " ", name)])
		}
		if m == annotation.Audio {
			row = append(row, path.Base(item.Clip.Key))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteConsensus writes a row an item and modality: what people say of it together.
// The outcomes are a State's, from which the erased annotators were removed.
func (e Export) WriteConsensus(w io.Writer, outcomes []Outcome, private bool) error {
	header := []string{"item", "modality", "label", "yes", "no", "closed", "short", "adjudication", "for_yes", "for_no", "annotators", "truth"}
	if private {
		header = append(header, "decided")
	}
	rows := [][]string{header}
	for _, o := range outcomes {
		item := e.Study.Items[o.Item]
		row := []string{
			item.ID, string(o.Modality), string(o.Label), strconv.Itoa(o.Yes), strconv.Itoa(o.No), strconv.FormatBool(o.Closed), strconv.FormatBool(o.Short),
			string(o.Adjudication), strconv.Itoa(o.ForYes), strconv.Itoa(o.ForNo), strconv.Itoa(o.Annotators()), string(item.Truth),
		}
		if private {
			decided := ""
			if !o.Decided.IsZero() {
				decided = o.Decided.UTC().Format(time.RFC3339)
			}
			row = append(row, decided)
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteBatches writes all that is known of every batch, a line each, adjudications,
// attention checks and flags too: for the study's leader alone.
func (e Export) WriteBatches(w io.Writer) error {
	encoder := json.NewEncoder(w)
	for _, b := range e.kept() {
		if err := encoder.Encode(b); err != nil {
			return err
		}
	}
	return nil
}
