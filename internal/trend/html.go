package trend

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

//go:embed page.html
var page string

// WriteHTML writes a history as one page that asks for nothing else. Text from
// outside is escaped by html/template.
func WriteHTML(w io.Writer, h History) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"word": word, "printable": printable, "findings": Row.findings, "regression": Row.regression, "cause": Row.cause, "canary": Row.canary,
		"shown":  func(r Row) bool { return r.Outcome != nil && r.Outcome.Regression == evaluation.RegressionShown },
		"figure": Row.figure, "names": func() []string { return figureNames },
		"due": func(r Row) string { return r.Due.UTC().Format(dateFormat) },
	}).Parse(page)
	if err != nil {
		return err
	}
	var charts []chart
	for _, name := range figureNames {
		charts = append(charts, newChart(name, h))
	}
	return t.Execute(w, struct {
		History
		Charts []chart
	}{h, charts})
}

// The pictures are drawn in a field 640 wide and 200 high, which the page scales.
const (
	left, right = 40, 630
	top, bottom = 10, 160
)

// chart is one figure over the firings, from 0 to 1, with its interval.
type chart struct {
	ID, Name, Desc string
	Lines          []string // points of a polyline; a firing without the figure breaks it
	Marks          []mark
	Ticks          []tick
}

// mark is a firing's place: a dot, a diamond where a regression was shown, a cross
// where there is no figure.
type mark struct {
	X, Y, Low, High float64
	HasInterval     bool
	Kind            string // dot, lost or none
	Label           string
}

type tick struct {
	Y     float64
	Label string
}

func newChart(name string, h History) chart {
	c := chart{ID: "chart-" + slug(name), Name: name}
	for _, at := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.Ticks = append(c.Ticks, tick{up(at), fmt.Sprintf("%g", at)})
	}
	line, shown, figures := "", 0, 0
	end := func() {
		if line != "" {
			c.Lines = append(c.Lines, line)
		}
		line = ""
	}
	for i, r := range h.Firings {
		x := tenth(left + (right-left)*(float64(i)+0.5)/float64(len(h.Firings)))
		f := r.figure(name)
		label := r.Due.UTC().Format(dateFormat) + ", " + r.State
		if !f.Value.Defined {
			end()
			c.Marks = append(c.Marks, mark{X: x, Y: bottom, Kind: "none", Label: label + ": no figure"})
			continue
		}
		figures++
		m := mark{X: x, Y: up(f.Value.Value), Kind: "dot", Label: fmt.Sprintf("%s: %.3f (n = %d)", label, f.Value.Value, f.N)}
		if m.HasInterval = f.Low.Defined && f.High.Defined; m.HasInterval {
			m.Low, m.High = up(f.Low.Value), up(f.High.Value)
		}
		if r.Outcome.Regression == evaluation.RegressionShown {
			m.Kind = "lost"
			m.Label += ", regression shown"
			shown++
		}
		line += fmt.Sprintf("%g,%g ", m.X, m.Y)
		c.Marks = append(c.Marks, m)
	}
	end()
	c.Desc = fmt.Sprintf("%s at %d of %d firings, from 0 to 1, with 95%% intervals; a regression was shown at %d of them.", name, figures, len(h.Firings), shown)
	return c
}

func slug(name string) string {
	out := []byte(name)
	for i, b := range out {
		if b == ' ' {
			out[i] = '-'
		}
	}
	return string(out)
}

// up is where a share from 0 to 1 lies in the field.
func up(share float64) float64 {
	return tenth(bottom - (bottom-top)*min(max(share, 0), 1))
}

func tenth(v float64) float64 { return math.Round(v*10) / 10 }
