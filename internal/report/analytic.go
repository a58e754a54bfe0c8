package report

import (
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Analytic is about the distributions that sampled passes would be drawn from.
type Analytic struct {
	N         int      `json:"n"`       // distributions, one an option order
	Methods   []string `json:"methods"` // how they were had
	Undecided int      `json:"undecided"`
	// MeanMajority is the mean probability that most passes would say YES.
	MeanMajority score.Figure `json:"mean_majority"`
	// MeanLabel is the mean probability, where a label was given, that drawn passes
	// would give the same.
	MeanLabel score.Figure `json:"mean_label"`
}

// summarize returns nil when all votes were drawn.
func summarize(judged []judgedItem, rules vote.Rules) *Analytic {
	out := Analytic{Methods: []string{}}
	var majorities, labels []float64
	for _, it := range judged {
		for _, o := range ordersOf(it.judgement) {
			if o.analytic == nil {
				continue
			}
			out.Methods = union(out.Methods, o.analytic.Choice.Method)
			majorities = append(majorities, share(o.analytic.Majority))
			if o.outcome.Verdict == vote.Unresolved {
				out.Undecided++
			} else {
				labels = append(labels, share(labelProbability(*o.analytic, o.outcome.Verdict, rules)))
			}
		}
	}
	if out.N = len(majorities); out.N == 0 {
		return nil
	}
	out.MeanMajority, out.MeanLabel = score.MeanOf(majorities).Value, score.MeanOf(labels).Value
	return &out
}

// labelProbability is how likely drawn passes would give the same verdict.
func labelProbability(a evaluation.AnalyticRecord, verdict vote.Verdict, rules vote.Rules) vote.Nano {
	switch {
	case verdict == vote.Yes:
		return a.Majority
	case rules.Label == vote.LabelPlurality:
		return vote.One - a.Majority
	default: // a quorum of NO is as likely as one of YES where YES and NO change places
		_, p := vote.DecideAnalytic(vote.One-a.Choice.Yes, rules)
		return p
	}
}

func share(p vote.Nano) float64 { return float64(p) / float64(vote.One) }
