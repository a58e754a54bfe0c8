package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/speechmanip/speechmanip/internal/score"
)

// paperTable is a table to be published. Its first column is of words, the others
// are of figures. Text from outside is not escaped in it: each form has its own way.
type paperTable struct {
	Label   string // within the document, of letters and '-'
	Caption string
	Columns []string
	Rows    [][]string
	Rules   []int    // the rows that a line stands above
	Notes   []string // what must be read with it
}

// figure is a cell; why it is undefined becomes a note.
func (t *paperTable) figure(f score.Figure) string {
	if !f.Defined {
		return t.undefined(f)
	}
	return tableNumber(f.Value)
}

func (t *paperTable) undefined(f score.Figure) string {
	note := "undefined: " + f.Reason + "."
	if !slices.Contains(t.Notes, note) {
		t.Notes = append(t.Notes, note)
	}
	return "undefined"
}

func (t *paperTable) interval(low, high score.Figure) string {
	if !low.Defined {
		return t.undefined(low)
	}
	return tableNumber(low.Value) + " to " + tableNumber(high.Value)
}

// two has two decimals, as the paper's Table 6.
func (t *paperTable) two(f score.Figure) string {
	if !f.Defined {
		return t.undefined(f)
	}
	return withoutZero(strconv.FormatFloat(f.Value, 'f', 2, 64))
}

func (t *paperTable) p(f score.Figure) string {
	if f.Defined && f.Value < 0.001 {
		return "< .001"
	}
	return t.figure(f)
}

// tableNumber writes a number as the paper does: .845.
func tableNumber(v float64) string { return withoutZero(strconv.FormatFloat(v, 'f', 3, 64)) }

func withoutZero(s string) string {
	if rest, ok := strings.CutPrefix(s, "0."); ok {
		return "." + rest
	}
	if rest, ok := strings.CutPrefix(s, "-0."); ok {
		return "-." + rest
	}
	return s
}

// tableWord is a figure within a sentence.
func tableWord(f score.Figure) string {
	if !f.Defined {
		return word(f)
	}
	return tableNumber(f.Value)
}
