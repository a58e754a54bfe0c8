package trend

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// drift tells a changed model from changed data: the canary's clips are the same
// bytes, so that only the model can answer otherwise; the dialogues are the same data
// exactly where their hashes are.
func (l Look) drift() evaluation.Drift {
	engines := func(r report.Report) evaluation.Engines { return r.Settings.Engines }
	out := evaluation.Drift{
		Server: evaluation.ServerChanges(engines(l.Baseline).Detector, engines(l.Now).Detector, l.Baseline.Server, l.Now.Server),
		Canary: CompareCanary(l.Schedule, l.Canary, l.Now.Settings.Spec.Rules.Votes, l.Number),
		Data:   dataChange(l.Baseline, l.Now),
	}
	model, data := out.Canary.Changed, out.Data != evaluation.DataChange{}
	switch {
	case model && data:
		out.Cause = evaluation.CauseBoth
	case model:
		out.Cause = evaluation.CauseModel
	case out.Canary.Observed+out.Canary.Counted == 0:
		out.Cause = evaluation.CauseUnknown
	case data:
		out.Cause = evaluation.CauseData
	default:
		out.Cause = evaluation.CauseNone
	}
	return out
}

// CompareCanary holds the canary's records against the answers that the schedule has
// of its clips.
func CompareCanary(s evaluation.Schedule, records []evaluation.Record, votes vote.VoteMode, look int) evaluation.Canary {
	now := map[evaluation.Rendition]evaluation.Answer{}
	for _, r := range records {
		if r.Failure == nil {
			now[r.Rendition()] = evaluation.AnswerOf(r, votes)
		}
	}
	out := evaluation.Canary{Items: len(s.Canary), Threshold: s.Shift, Level: Spend(FalseChanges, look)}
	var counted []draws
	var sum float64
	for _, item := range s.Canary {
		was, is := item.Answer, now[item.Item.Rendition()]
		switch {
		case was.P.Observed && is.P.Observed:
			out.Observed++
			sum += math.Abs(float64(is.P.P-was.P.P)) / 1e9
		case was.Drawn > 0 && is.Drawn > 0:
			out.Counted++
			counted = append(counted, draws{was.Yes, was.Drawn, is.Yes, is.Drawn})
		default:
			out.Missing++
		}
	}
	out.Shift = score.Figure{Reason: "no probability was observed then and now"}
	if out.Observed > 0 {
		out.Shift = score.Figure{Value: sum / float64(out.Observed), Defined: true}
	}
	out.P = score.Figure{Reason: "no item of which votes alone are known"}
	if out.Counted > 0 {
		out.P = score.Figure{Value: sameDistribution(counted), Defined: true}
	}
	out.Changed = out.Shift.Defined && out.Shift.Value > out.Threshold || out.P.Defined && out.P.Value < out.Level
	return out
}

// draws are the votes on one clip, then and now.
type draws struct{ yes, n, yesNow, nNow int }

// sameDistribution is the exact probability of votes that differ at least as much, had
// every clip the same chance of a YES then and now. Given how many of a clip's votes
// say YES altogether, which of them are now's is a draw without replacement; clips are
// independent. How much they differ is the sum of the differences of the shares.
func sameDistribution(clips []draws) float64 {
	chance := []float64{1} // by the sum of differences so far, in units of 1/(n nNow)
	observed := 0
	for _, c := range clips {
		unit := c.n * c.nNow
		// Clips of other sizes have other units: shares are compared in a common one,
		// fine enough for a few dozen votes.
		scale := func(yesNow int) int {
			yes := c.yes + c.yesNow - yesNow
			return int(math.Round(steps * math.Abs(float64(yes*c.nNow-yesNow*c.n)) / float64(unit)))
		}
		observed += scale(c.yesNow)
		next := make([]float64, len(chance)+steps)
		total := c.yes + c.yesNow
		for yesNow := max(0, total-c.n); yesNow <= min(total, c.nNow); yesNow++ {
			p := math.Exp(combin.LogGeneralizedBinomial(float64(c.nNow), float64(yesNow)) + combin.LogGeneralizedBinomial(float64(c.n), float64(total-yesNow)) -
				combin.LogGeneralizedBinomial(float64(c.n+c.nNow), float64(total)))
			for d, q := range chance {
				if q == 0 {
					continue
				}
				next[d+scale(yesNow)] += p * q
			}
		}
		chance = next
	}
	p := 0.0
	for d, q := range chance {
		if d >= observed {
			p += q
		}
	}
	return min(p, 1)
}

// steps divide a difference of shares; 5 votes against 5 differ by whole ones.
const steps = 2520

func dataChange(was, now report.Report) evaluation.DataChange {
	var out evaluation.DataChange
	before := map[evaluation.Rendition]report.Dialogue{}
	for _, d := range was.Dialogues {
		before[d.Rendition()] = d
	}
	for _, d := range now.Dialogues {
		old, known := before[d.Rendition()]
		delete(before, d.Rendition())
		switch {
		case !known:
			out.Added++
		case d.TextHash != old.TextHash, d.Truth != old.Truth, d.Clip.SHA256 != old.Clip.SHA256 && d.Failure == nil && old.Failure == nil:
			out.Other++
		}
	}
	out.Missing = len(before)
	return out
}
