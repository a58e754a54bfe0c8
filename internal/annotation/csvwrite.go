package annotation

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// writeLong writes a row a vote. An item without a vote can't be in it.
func (s Set) writeLong(w io.Writer, modalities []Modality) error {
	rows := [][]string{{"item", "modality", "annotator", "label", "time", "truth"}}
	for _, m := range modalities {
		for _, t := range s.tasks(m) {
			for _, v := range t.votes {
				at := ""
				if !v.Time.IsZero() {
					at = v.Time.Format(time.RFC3339Nano)
				}
				rows = append(rows, []string{t.item, string(m), v.Annotator, string(v.Label), at, string(t.truth)})
			}
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// ones are how the paper's data spells labels and truths.
var ones = map[string]string{string(Yes): "1", string(No): "0"}

// writeWide writes a row an item, as the paper's data has it: times are lost.
func (s Set) writeWide(w io.Writer, m Modality) error {
	annotators := s.Annotators(m)
	if len(annotators) == 0 {
		return fmt.Errorf("nobody has judged %s: a wide file needs a column of an annotator", m)
	}
	tasks := s.tasks(m)
	header := append([]string{"ID", "MentalManip"}, annotators...)
	if m == Audio {
		header = append(header, "Audio File Name")
	}
	header = append(header, "Dialogue")
	for _, name := range annotators {
		if slices.Contains(append(notAnnotators, "annotator", "label"), strings.ToLower(name)) {
			return fmt.Errorf("annotator %s: the name would be taken for another column's: give another", quote(name))
		}
	}
	rows := [][]string{header}
	for _, t := range tasks {
		said := map[string]string{}
		for _, v := range t.votes {
			said[v.Annotator] = ones[string(v.Label)]
		}
		row := []string{t.item, ""}
		if t.truth != dialogue.Unknown {
			row[1] = ones[string(t.truth)]
		}
		for _, name := range annotators {
			row = append(row, said[name])
		}
		if m == Audio {
			row = append(row, cell(t.shown.Audio))
		}
		rows = append(rows, append(row, cell(t.shown.Text)))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// cell marks text that a spreadsheet would take for a formula.
func cell(text string) string {
	if formula(text) {
		return "'" + text
	}
	return text
}
