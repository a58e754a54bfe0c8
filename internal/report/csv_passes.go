package report

import (
	"io"
	"slices"
	"strconv"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// WritePassesCSV writes one row a pass, and one for a distribution that stands in
// the place of passes: its index and its seed are empty.
func WritePassesCSV(w io.Writer, r Report) error {
	rows := [][]string{{"id", "pass", "vote", "method", "p_yes", "p_yes_observed", "seed", "object", "modality", "order", "majority", "casting"}}
	spec := r.Settings.Spec.Detection
	for _, d := range r.Dialogues {
		for i, modality := range spec.Modalities() {
			j := &d.Judgement
			if i > 0 {
				j = d.Text
			}
			if j == nil {
				continue
			}
			for k, o := range ordersOf(*j) {
				letters := spec.OptionOrder
				if letters == evaluation.OrderBoth {
					letters = []string{"ab", "ba"}[k]
				}
				for _, row := range orderRows(o) {
					rows = append(rows, slices.Concat([]string{cell(d.ID)}, row[:7], []string{cell(string(modality)), cell(letters)}, row[7:], []string{castingCell(d)}))
				}
			}
		}
	}
	return writeRows(w, rows)
}

// orderRows are the passes' cells without those that all passes of an order share.
func orderRows(o order) [][]string {
	var rows [][]string
	for _, p := range o.passes {
		rows = append(rows, []string{
			strconv.Itoa(p.Index), string(p.Vote), string(p.Method),
			probability(p.PYes.P), strconv.FormatBool(p.PYes.Observed), strconv.FormatInt(p.Seed, 10), cell(p.Ref.Key), "",
		})
	}
	if a := o.analytic; a != nil {
		rows = append(rows, []string{
			"", "", cell("analytic: " + a.Choice.Method),
			probability(a.Choice.PYes.P), strconv.FormatBool(a.Choice.PYes.Observed), "", cell(a.Ref.Key), probability(a.Majority),
		})
	}
	return rows
}
