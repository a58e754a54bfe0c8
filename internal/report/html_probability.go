package report

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
)

// histogram counts dialogues by their mean p(YES): truth YES above the line, truth
// NO below it.
type histogram struct {
	ID            string
	N, Unobserved int
	Bins          []histogramBin
}

type histogramBin struct {
	Range                    string
	Yes, No                  int
	X, YesY, YesTall, NoTall float64
}

const (
	histogramBins = 20
	histogramLine = 110 // where the bars stand, and hang
	histogramTall = 95
	histogramStep = 23
	histogramLeft = 45
)

func newHistogram(id string, dialogues []judgedItem) histogram {
	out := histogram{ID: id, Bins: make([]histogramBin, histogramBins)}
	most := 1
	for _, d := range dialogues {
		p, observed := ordersOf(d.judgement)[0].pYes()
		if !observed {
			out.Unobserved++
			continue
		}
		out.N++
		b := &out.Bins[min(max(int(p*histogramBins), 0), histogramBins-1)]
		if d.Truth == dialogue.Yes {
			b.Yes++
		} else {
			b.No++
		}
		most = max(most, b.Yes, b.No)
	}
	for i := range out.Bins {
		b := &out.Bins[i]
		b.Range = fmt.Sprintf("%.2f to %.2f", float64(i)/histogramBins, float64(i+1)/histogramBins)
		b.X = float64(histogramLeft + i*histogramStep + 2)
		b.YesTall = tenth(histogramTall * float64(b.Yes) / float64(most))
		b.NoTall = tenth(histogramTall * float64(b.No) / float64(most))
		b.YesY = tenth(histogramLine - b.YesTall)
	}
	return out
}

// curve is the reliability as a picture.
type curve struct {
	ID string
	Reliability
	Dots []curveDot
}

type curveDot struct{ X, Y, Low, High float64 }

const (
	curveLeft  = 50
	curveTop   = 10
	curveField = 300
)

func newCurve(id string, r Reliability) curve {
	out := curve{ID: id, Reliability: r}
	up := func(share score.Figure) float64 { return tenth(curveTop + curveField*(1-share.Value)) }
	for _, b := range r.Bins {
		dot := curveDot{X: tenth(curveLeft + curveField*b.Mean), Y: up(b.Yes.Value), Low: up(b.Yes.Low), High: up(b.Yes.High)}
		if !b.Yes.Low.Defined {
			dot.Low, dot.High = dot.Y, dot.Y
		}
		out.Dots = append(out.Dots, dot)
	}
	return out
}
