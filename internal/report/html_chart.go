package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/speechmanip/speechmanip/internal/score"
)

// The pictures are drawn in a field 540 wide, which the page scales (charts.tmpl
// has the same numbers). Labels stand left of plotLeft, figures right of a bar or
// of plotRight.
const (
	plotLeft  = 190
	plotRight = 450
	barRight  = 420 // of the longest bar: its count needs more room
	lineStep  = 26
)

// barChart has one bar a row, the longest as wide as the field.
type barChart struct {
	ID, Title, Desc string
	Of              string // what N counts; "" where that is dialogues
	N, Height       int
	Bars            []bar
}

type bar struct {
	Label       string
	Count       int
	Percent     string
	Y, TextY    int
	Width, EndX float64
}

// tacticBars pictures a table of tactics, those of no tactic at its end.
func tacticBars(id, title string, t score.TacticTable) barChart {
	out := barChart{ID: id, Title: title, N: t.N}
	most := t.Undetermined
	for _, row := range t.Rows {
		most = max(most, row.Count)
	}
	add := func(label string, count int) {
		y := len(out.Bars) * lineStep
		width := tenth(float64(barRight-plotLeft) * float64(count) / float64(most))
		out.Bars = append(out.Bars, bar{
			Label: label, Count: count, Percent: fmt.Sprintf("%.1f%%", 100*float64(count)/float64(t.N)),
			Y: y + 4, TextY: y + 18, Width: width, EndX: tenth(plotLeft + width + 8),
		})
	}
	for _, row := range t.Rows {
		add(string(row.Tactic), row.Count)
	}
	if t.Undetermined > 0 {
		add("undetermined", t.Undetermined)
	}
	out.Height = len(out.Bars)*lineStep + 6
	out.Desc = fmt.Sprintf("A bar for each of %d kinds, of n = %d.", len(out.Bars), t.N)
	if len(out.Bars) > 0 {
		out.Desc += fmt.Sprintf(" The most frequent is %s with %s.", out.Bars[0].Label, out.Bars[0].Percent)
	}
	return out
}

// intervalChart has one line a share: its value as a dot, its 95% interval as a
// line, and what it is compared with as upright marks.
type intervalChart struct {
	ID, Title, Desc string
	Height, AxisY   int
	Ticks           []tick
	Lines           []interval
	Marks           []string // what the marks are
}

type tick struct {
	At    float64
	Label string
}

type interval struct {
	Label, Text    string
	Y, TextY       int
	Defined        bool
	X, Low, High   float64
	HasInterval    bool
	Marks          []upright
	MarkTop, MarkY int
}

// upright is a mark of a kind, an index of the chart's.
type upright struct {
	Kind int
	X    float64
}

func newIntervalChart(id, title string, marks ...string) intervalChart {
	out := intervalChart{ID: id, Title: title, Marks: marks}
	for _, at := range []float64{0, 0.25, 0.5, 0.75, 1} {
		out.Ticks = append(out.Ticks, tick{across(at), fmt.Sprintf("%g", at)})
	}
	return out
}

// add takes the marks in the order of the chart's.
func (c *intervalChart) add(label string, value, low, high score.Figure, marks ...score.Figure) {
	y := len(c.Lines)*lineStep + 14
	line := interval{Label: label, Y: y, TextY: y + 5, MarkTop: y - 9, MarkY: y + 9, Defined: value.Defined, Text: "undefined"}
	if value.Defined {
		line.X, line.Text = across(value.Value), word(value)
	}
	if line.HasInterval = value.Defined && low.Defined && high.Defined; line.HasInterval {
		line.Low, line.High = across(low.Value), across(high.Value)
	}
	for kind, f := range marks {
		if f.Defined {
			line.Marks = append(line.Marks, upright{kind, across(f.Value)})
		}
	}
	c.Lines = append(c.Lines, line)
	c.AxisY = len(c.Lines) * lineStep
	c.Height = c.AxisY + 24
}

func headlineChart(id string, h Headline) intervalChart {
	names := []string{"always YES", "majority", "duration"}
	people := slices.ContainsFunc(h.Rows, func(l HeadlineLine) bool { return l.People.Defined })
	if people {
		names = append(names, "people")
	}
	c := newIntervalChart(id+"-rates", "Headline figures with their 95% intervals", names...)
	c.Desc = "Each figure is a dot with its 95% interval, from 0 to 1; upright marks are what rules reach that hear nothing of what is said, and people where they judged the same dialogues."
	for _, r := range h.Rows {
		c.add(headlineName(r.Name), r.Value, r.Low, r.High, []score.Figure{r.AlwaysYes, r.Majority, r.Duration, r.People}[:len(names)]...)
	}
	return c
}

func hitChart(id string, a score.TacticAccuracy) intervalChart {
	c := newIntervalChart(id+"-hits", "Tactic accuracy with its 95% intervals", "always the most frequent tactic")
	c.Desc = "The share whose tactic is one of those annotated, as a dot with its 95% interval, from 0 to 1; the upright mark is what always naming one tactic reaches."
	c.add("of those called YES", a.Conditional.Value, a.Conditional.Low, a.Conditional.High, a.Conditional.ConstantRate.Value)
	c.add("end to end", a.EndToEnd.Value, a.EndToEnd.Low, a.EndToEnd.High, a.EndToEnd.ConstantRate.Value)
	return c
}

// across is where a share from 0 to 1 lies in the field.
func across(share float64) float64 {
	return tenth(plotLeft + (plotRight-plotLeft)*min(max(share, 0), 1))
}

// tenth keeps the page small: a tenth of a unit is less than anybody sees.
func tenth(v float64) float64 { return math.Round(v*10) / 10 }
