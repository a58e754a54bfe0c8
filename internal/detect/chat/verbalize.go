package chat

import (
	"context"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Verbalize decides by the words for yes and no, as passes do where neither letter
// comes: the more probable word, by the rules' margin. It draws nothing; strategies
// that reason think the most probable thoughts first. The error says why a server
// that gives no logprobs can't be asked so.
func (d *Detector) Verbalize(ctx context.Context, item detect.Item) (detect.Decision, error) {
	p, err := d.read(ctx, item)
	if err != nil {
		return detect.Decision{}, err
	}
	out := detect.Decision{Vote: vote.VoteInvalid, Method: vote.Failed, PYes: vote.Mass{P: vote.One}, Reply: p.Nothing}
	if p.Nothing != "" {
		return out, nil
	}
	if !p.Capabilities.Logprobs {
		return out, fault.Permanentf("ask in words about "+item.ID, "no_logprobs", "the server gives no logprobs: leave the question in words out")
	}
	t, err := d.load(ctx, item)
	if err != nil {
		return out, err
	}
	reasoning := ""
	if d.strategy.Reasons {
		if reasoning, err = d.reason(ctx, p.Capabilities, t, detect.Pass{Sampling: greedy}); err != nil {
			return out, err
		}
	}
	r, yes, no, err := d.words(ctx, p.Capabilities, t, reasoning)
	if err != nil {
		return out, err
	}
	out.Vote, out.Method = vote.DecideFallback(yes, no, d.config.Rules)
	out.PYes, out.Reply, out.Prompt = share(yes, no), storable(r.text), r.prompt
	return out, nil
}

// words asks for the decision in words and returns the summed probabilities of
// the spellings of each.
func (d *Detector) words(ctx context.Context, caps Capabilities, t target, reasoning string) (r reply, yes, no vote.Mass, err error) {
	r, err = d.ask(ctx, caps, t, question{stage: prompt.Verbalize, reasoning: reasoning, sampling: plainSampling, maxTokens: 1, logprobs: true})
	return r, r.mass(verbalizers("yes")...), r.mass(verbalizers("no")...), err
}
