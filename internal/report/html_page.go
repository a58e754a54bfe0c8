package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/score"
)

// page is what the template shows: the report, and what is made of it for people
// to look at.
type page struct {
	Report
	Policy        string
	Style, Script inlined

	Model    string
	Castings int
	Ends     string // when the links to the clips do; "" where there are none
	Headline judgedView
	Text     *judgedView // of both modalities
	SeenView *judgedView
	Gap      grid
	Holm     grid
	Looks    *grid
	People   []peopleView
	Truths   []truthView
	Effects  []grid

	Money    string // "" when no prices were given
	Budget   string
	Seconds  float64 // of all clips
	Causes   []cause
	Settings []setting
	Rows     []row
	Named    []string // the tactics to filter by
	Swapped  bool
}

type peopleView struct {
	People
	Both, ByLabel grid
}

type truthView struct {
	Truths
	Scores, Differences grid
}

// shown is what a page is given beside the report.
type shown struct {
	media Media
	until time.Time // when the links to the clips end; zero where they don't
}

func newPage(r Report, with shown) (page, error) {
	style, err := inline("style", "style.css")
	if err != nil {
		return page{}, err
	}
	script, err := inline("script", "report.js")
	if err != nil {
		return page{}, err
	}
	settings, err := listSettings(r.Settings)
	if err != nil {
		return page{}, err
	}
	modality := r.Settings.Spec.Detection.Modalities()[0]
	out := page{
		Report: r,
		Style:  style, Script: script, Policy: policy(style, script, with),
		Model:    outside(cmp.Or(r.Settings.Spec.Detection.ModelName, r.Settings.Engines.Detector.Model, "not known yet")),
		Castings: r.Settings.Spec.Castings(),
		Headline: newView("headline", r.Result, r.Headline, r.peopleBeside(modality)).measured(r.Measures, r.Answers, scored(r.Dialogues, first)),
		Holm:     testGrid(r.Tests),
		Causes:   causes(r.Failures),
		Settings: settings,
		Swapped:  r.Orders != nil,
	}
	if !with.until.IsZero() {
		out.Ends = with.until.UTC().Format("2006-01-02 15:04 MST")
	}
	out.compare(r)
	out.spend(r)
	for _, d := range r.Dialogues {
		line := newRow(d, with.media[d.Rendition()])
		out.Rows = append(out.Rows, line)
		out.Seconds += d.ClipSeconds
		if line.Tactic != "" && !slices.Contains(out.Named, line.Tactic) {
			out.Named = append(out.Named, line.Tactic)
		}
	}
	slices.Sort(out.Named)
	return out, nil
}

// compare adds what stands beside the headline, as far as there is such.
func (p *page) compare(r Report) {
	if m := r.Modalities; m != nil {
		text := newView("text", m.Text.Result, m.Text.Headline, r.peopleBeside(detect.Text)).measured(m.Text.Measures, m.Text.Answers, scored(r.Dialogues, written))
		p.Text, p.Gap = &text, gapGrid(m.Gaps)
	}
	if s := r.Seen.Result; s != nil {
		seen := newView("seen", *s, newHeadline(*s), nil)
		p.SeenView = &seen
	}
	for _, people := range r.People {
		p.People = append(p.People, peopleView{people, peopleGrid(people), labelGrid(people)})
	}
	for _, t := range r.Truths {
		p.Truths = append(p.Truths, truthView{t, truthGrid(t), disagreementGrid(t)})
	}
	if v := r.Voices; v != nil && v.Confounded == "" {
		p.Effects = effectGrids(*v)
	}
	if o := r.Scheduled; o != nil {
		if g := lookGrid(*o); len(g.Rows) > 0 {
			p.Looks = &g
		}
	}
}

func (p *page) spend(r Report) {
	if r.Cost.Currency == "" {
		return
	}
	p.Money = amount(r.Cost.Currency, r.Cost.Money)
	if bound := r.Cost.Budget.Money; bound > 0 {
		p.Budget = amount(r.Cost.Currency, bound)
	}
}

// outside makes text from outside visible as it is: what is not printable would
// hide, or turn the text around it.
func outside(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return escape(s)
	}
	return s
}

// within is an interval in a table's cell.
func within(low, high score.Figure) string {
	if !low.Defined {
		return "-"
	}
	return fmt.Sprintf("%.3f to %.3f", low.Value, high.Value)
}
