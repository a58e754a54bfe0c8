package detect

import "github.com/speechmanip/speechmanip/internal/vote"

// Draw makes one pass's choice between YES and NO from a detector's probability
// of YES with vote.Draw, as a constrained two-token reply is sampled. At
// temperature 0.6 and top-p 0.95 a probability of 0.854 or more is certain.
// Equal probabilities are NO wherever one answer has to be preferred. A mass that
// was not observed gives INVALID, never NO, and so does a sampling that can't be
// used; greedy draws ignore top-p.
func Draw(pYes vote.Mass, sampling vote.Sampling, seed int64) vote.Vote {
	if !pYes.Observed {
		return vote.VoteInvalid
	}
	if sampling.Temperature == 0 {
		sampling.TopP = 1
	}
	p := min(max(pYes.P, 0), vote.One)
	votes := []vote.Vote{vote.VoteNo, vote.VoteYes} // the first of equals is drawn
	drawn, err := vote.Draw([]vote.Mass{{P: vote.One - p, Observed: true}, {P: p, Observed: true}}, sampling, seed)
	if err != nil {
		return vote.VoteInvalid
	}
	return votes[drawn]
}
