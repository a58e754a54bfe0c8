package report

import (
	"fmt"
	"math"

	"github.com/speechmanip/speechmanip/internal/score"
)

// The pictures are drawn in a field 540 wide, which the page scales (charts.tmpl
// has the same numbers). Labels stand left of plotLeft, figures right of a bar or
// of plotRight.
const (
	plotLeft  = 190
	plotRight = 450
	lineStep  = 26
)

// barChart has one bar a row, the longest as wide as the field.
type barChart struct {
	ID, Title, Desc string
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
		width := tenth(float64(plotRight-plotLeft) * float64(count) / float64(most))
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
	Marks           []string // what the marks are, the first kind and the second
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
	First, Second  float64 // marks
	HasFirst       bool
	HasSecond      bool
	MarkTop, MarkY int
}

func newIntervalChart(id, title string, marks ...string) intervalChart {
	out := intervalChart{ID: id, Title: title, Marks: marks}
	for _, at := range []float64{0, 0.25, 0.5, 0.75, 1} {
		out.Ticks = append(out.Ticks, tick{across(at), fmt.Sprintf("%g", at)})
	}
	return out
}

func (c *intervalChart) add(label string, value, low, high score.Figure, marks ...score.Figure) {
	y := len(c.Lines)*lineStep + 14
	line := interval{Label: label, Y: y, TextY: y + 5, MarkTop: y - 8, MarkY: y + 8, Defined: value.Defined, Text: word(value)}
	if value.Defined {
		line.X = across(value.Value)
	}
	if line.HasInterval = value.Defined && low.Defined && high.Defined; line.HasInterval {
		line.Low, line.High = across(low.Value), across(high.Value)
	}
	if len(marks) > 0 && marks[0].Defined {
		line.First, line.HasFirst = across(marks[0].Value), true
	}
	if len(marks) > 1 && marks[1].Defined {
		line.Second, line.HasSecond = across(marks[1].Value), true
	}
	c.Lines = append(c.Lines, line)
	c.AxisY = len(c.Lines) * lineStep
	c.Height = c.AxisY + 24
}

func rateChart(id string, rates []rateLine) intervalChart {
	c := newIntervalChart(id+"-rates", "Headline figures with their 95% intervals", "always YES", "majority")
	c.Desc = "Each figure is a dot with its 95% interval, from 0 to 1; upright marks are what always saying YES and always saying the more frequent truth reach."
	for _, r := range rates {
		c.add(r.Name, r.Value, r.Low, r.High, r.AlwaysYes, r.MajoritySay)
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
