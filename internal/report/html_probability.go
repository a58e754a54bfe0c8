package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// scorable are the dialogues behind the headline: unseen, with truth and with a
// judgement.
func scorable(dialogues []Dialogue) []Dialogue {
	var out []Dialogue
	for _, d := range dialogues {
		if !d.Seen && d.Truth != dialogue.Unknown && d.Failure == nil {
			out = append(out, d)
		}
	}
	return out
}

// histogram counts dialogues by their mean p(YES): truth YES above the line, truth
// NO below it.
type histogram struct {
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

func newHistogram(dialogues []Dialogue) histogram {
	out := histogram{Bins: make([]histogramBin, histogramBins)}
	most := 1
	for _, d := range dialogues {
		p, observed := ordersOf(d.Judgement)[0].pYes()
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

// reliability compares the constrained p(A) at T=1, or p(B) where B stands for YES, as the detector's server gave
// it, with how often the truth is YES. It is no calibrated confidence.
type reliability struct {
	Letter string // that stands for YES in the usual order
	N      int    // dialogues all of whose passes were constrained and observed
	Others int    // the other scored ones
	Brier  score.Mean
	Bins   []reliabilityBin
}

type reliabilityBin struct {
	From, To, Mean  float64
	Yes             score.Rate // how often the truth is YES
	X, Y, Low, High float64
}

const (
	leastBin      = 10 // of fewer dialogues a share says nothing
	mostBins      = 10
	reliableLeft  = 50
	reliableTop   = 10
	reliableField = 300
)

type forecast struct {
	p   float64
	yes bool
}

func newReliability(dialogues []Dialogue, optionOrder string) reliability {
	var all []forecast
	for _, d := range dialogues {
		if p, ok := constrained(ordersOf(d.Judgement)[0]); ok {
			all = append(all, forecast{p, d.Truth == dialogue.Yes})
		}
	}
	slices.SortFunc(all, func(a, b forecast) int { return cmp.Compare(a.p, b.p) })
	var squares []float64
	for _, f := range all {
		off := f.p
		if f.yes {
			off = 1 - f.p
		}
		squares = append(squares, off*off)
	}
	letter := "A"
	if optionOrder == evaluation.OrderSwapped {
		letter = "B"
	}
	out := reliability{Letter: letter, N: len(all), Others: len(dialogues) - len(all), Brier: score.MeanOf(squares)}
	for _, part := range equalParts(all, min(mostBins, max(1, len(all)/leastBin))) {
		out.Bins = append(out.Bins, newReliabilityBin(part))
	}
	return out
}

func newReliabilityBin(part []forecast) reliabilityBin {
	sum, yes := 0.0, 0
	for _, f := range part {
		sum += f.p
		if f.yes {
			yes++
		}
	}
	b := reliabilityBin{From: part[0].p, To: part[len(part)-1].p, Mean: sum / float64(len(part)), Yes: score.Wilson(yes, len(part))}
	up := func(share float64) float64 { return tenth(reliableTop + reliableField*(1-share)) }
	b.X, b.Y = tenth(reliableLeft+reliableField*b.Mean), up(b.Yes.Value.Value)
	b.Low, b.High = up(b.Yes.Low.Value), up(b.Yes.High.Value)
	return b
}

// equalParts cuts sorted forecasts into at most n parts of about the same count;
// equal ones stay together, so that no part depends on their order.
func equalParts(sorted []forecast, n int) [][]forecast {
	var out [][]forecast
	start := 0
	for i := 1; i <= n && start < len(sorted); i++ {
		end := max(len(sorted)*i/n, start+1)
		for end < len(sorted) && sorted[end].p == sorted[end-1].p {
			end++
		}
		out = append(out, sorted[start:end])
		start = end
	}
	return out
}

// constrained returns p(YES) where every pass was constrained to the letters, and
// observed.
func constrained(o order) (p float64, ok bool) {
	for _, pass := range o.passes {
		if pass.Method != vote.Constrained {
			return 0, false
		}
	}
	return o.pYes()
}
