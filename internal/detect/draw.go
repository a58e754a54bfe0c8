package detect

import (
	"math"
	"math/rand/v2"

	"github.com/speechmanip/speechmanip/internal/vote"
)

// drawStream is the second word of every pass's generator; changing it changes
// every drawn vote.
const drawStream = 0x7370_6565_6368_6d70

// Draw makes one pass's choice between YES and NO from a detector's probability
// of YES, as a constrained two-token reply is sampled: temperature first, then
// top-p, then one draw. At temperature 0.6 and top-p 0.95 a probability of
// 0.854 or more is certain.
//
// The draw is the first Float64 of rand.NewPCG(seed, drawStream), YES where it
// is below the sampled share of YES. A temperature that isn't positive is
// greedy; a top-p that isn't positive keeps the more probable answer only. Equal
// probabilities are NO wherever one answer has to be preferred. A mass that was
// not observed gives INVALID, never NO.
func Draw(pYes vote.Mass, sampling vote.Sampling, seed int64) vote.Vote {
	if !pYes.Observed {
		return vote.VoteInvalid
	}
	p := min(max(float64(pYes.P)/float64(vote.One), 0), 1)
	share := 0.0
	if p > 0.5 {
		share = 1
	}
	if sampling.Temperature > 0 {
		share = nucleus(heat(p, sampling.Temperature), sampling.TopP)
	}
	generator := rand.New(rand.NewPCG(uint64(seed), drawStream))
	if generator.Float64() < share {
		return vote.VoteYes
	}
	return vote.VoteNo
}

// heat returns the share of an answer of probability p at a temperature.
func heat(p, temperature float64) float64 {
	logit := (math.Log(p) - math.Log1p(-p)) / temperature // ±Inf at certainty
	return 1 / (1 + math.Exp(-logit))
}

// nucleus drops the less probable answer where the other alone reaches topP.
func nucleus(share, topP float64) float64 {
	top := max(share, 1-share)
	switch {
	case topP > top: // both are needed to reach topP
		return share
	case share > 0.5:
		return 1
	default:
		return 0
	}
}
