package report

import (
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/score"
)

// grid is a table of the page. Its first column is of headings; the template
// escapes what is in it.
type grid struct {
	Caption string
	Columns []string
	Rows    [][]string
	Notes   []string // below the table: why something is undefined, and what to know
}

func newGrid(caption string, columns ...string) grid { return grid{Caption: caption, Columns: columns} }

func (g *grid) row(cells ...string) { g.Rows = append(g.Rows, cells) }

// note adds a sentence below the table, once.
func (g *grid) note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(g.Notes, s) {
		g.Notes = append(g.Notes, s)
	}
}

// figure is a cell; why it is undefined stands below the table.
func (g *grid) figure(f score.Figure) string {
	if !f.Defined {
		g.note("Undefined: %s.", outside(f.Reason))
		return "undefined"
	}
	return fmt.Sprintf("%.3f", f.Value)
}

// difference is a cell with a sign.
func (g *grid) difference(f score.Figure) string {
	if !f.Defined {
		return g.figure(f)
	}
	return signed(f)
}

// p is a cell of a p-value.
func (g *grid) p(f score.Figure) string {
	if f.Defined && f.Value < 0.001 {
		return "< 0.001"
	}
	return g.figure(f)
}

// span is a cell of two figures that are defined together.
func (g *grid) span(low, high score.Figure) string {
	if !low.Defined {
		return g.figure(low)
	}
	return within(low, high)
}

// gaps is a span of differences.
func (g *grid) gaps(low, high score.Figure) string {
	if !low.Defined {
		return g.figure(low)
	}
	return differences(low, high)
}
