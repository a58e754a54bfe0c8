// Package trend says what a schedule's evaluations show over time: losses, corrected
// for how often was looked; whether the model or the data has changed; and the figures
// in words and pictures.
package trend

import (
	"slices"

	"github.com/speechmanip/speechmanip/internal/compare"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

const (
	// FalseAlarms is the most probable that a schedule raises a false alarm of a loss
	// in all its life.
	FalseAlarms = 0.05
	// FalseChanges is the same of a change of the model that the canary's votes show.
	FalseChanges = 0.01
)

// Spend is the part of total that may be spent on a look, counted from 1. Over all
// looks, however many, no more than total is spent: the parts are total / (k (k+1)).
func Spend(total float64, look int) float64 { return total / float64(look) / float64(look+1) }

// Look is a firing that has ended, with what it is held against.
type Look struct {
	Schedule evaluation.Schedule
	Firing   evaluation.Firing
	Number   int // from 1
	Baseline report.Report
	Before   *report.Report // the look before; nil at the first
	Now      report.Report
	Canary   []evaluation.Record // those there are
}

// Outcome says what the look found. What could not be compared says why.
func (l Look) Outcome() evaluation.Outcome {
	out := evaluation.Outcome{
		Schema: evaluation.OutcomeSchema, Schedule: l.Schedule.ID, Evaluation: l.Firing.Evaluation, Look: l.Number, Due: l.Firing.Due,
		Items: l.Now.Items, Failed: len(l.Now.Failures), Unresolved: unresolved(l.Now), Usage: l.Now.Usage,
		Figures: tracked(l.Now),
		Drift:   l.drift(),
		Against: []evaluation.Against{l.against(l.Baseline, true)},
	}
	if l.Before != nil {
		out.Against = append(out.Against, l.against(*l.Before, false))
	}
	out.Regression = regression(out.Against, len(l.Schedule.Limits))
	return out
}

// regression is unchecked unless every limit was checked against the baseline.
func regression(against []evaluation.Against, limits int) evaluation.Regression {
	for _, a := range against {
		if slices.ContainsFunc(a.Checks, func(c score.Loss) bool { return c.Shown }) {
			return evaluation.RegressionShown
		}
	}
	if limits == 0 || len(against[0].Checks) < limits {
		return evaluation.RegressionUnchecked
	}
	return evaluation.RegressionNone
}

// against compares the look with an earlier evaluation. What may be spent on it is
// shared by all its checks, those against the baseline and those against the look
// before.
func (l Look) against(earlier report.Report, baseline bool) evaluation.Against {
	out := evaluation.Against{Evaluation: earlier.Evaluation, Baseline: baseline, Checks: []score.Loss{}}
	c, err := compare.Build([]report.Report{earlier, l.Now})
	if err != nil {
		out.Unchecked = append(out.Unchecked, err.Error())
		return out
	}
	out.Paired, out.Flips = c.Paired, len(c.Flips)
	confidence := 1 - Spend(FalseAlarms, l.Number)/float64(2*max(len(l.Schedule.Limits), 1))
	for _, limit := range l.Schedule.Limits {
		loss, err := c.CheckAt(compare.Limit(limit), confidence)
		if err != nil {
			out.Unchecked = append(out.Unchecked, err.Error())
			continue
		}
		out.Checks = append(out.Checks, loss)
	}
	return out
}

func unresolved(r report.Report) int {
	n := 0
	for _, d := range r.Dialogues {
		if !d.Seen && d.Failure == nil && d.Truth != "" && d.Verdict.Verdict == vote.Unresolved {
			n++
		}
	}
	return n
}

func tracked(r report.Report) []evaluation.Tracked {
	c := r.Classification
	balanced, low, high := score.BalancedAccuracy(r.Confusion)
	rate := func(name string, r score.Rate) evaluation.Tracked {
		return evaluation.Tracked{Name: name, N: r.N, Value: r.Value, Low: r.Low, High: r.High}
	}
	return []evaluation.Tracked{
		rate("recall", c.Intervals.Recall),
		rate("specificity", c.Intervals.Specificity),
		{Name: "balanced accuracy", N: c.Decided, Value: balanced, Low: low, High: high},
		rate("accuracy", c.Intervals.Accuracy),
	}
}
