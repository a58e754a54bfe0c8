package chat

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/vote"
)

var _ detect.Chooser = (*Detector)(nil)

// CheckChoose returns the fault that Choose would return for every item.
func (d *Detector) CheckChoose(ctx context.Context, sampling vote.Sampling) error {
	caps, err := d.capabilities(ctx)
	if err != nil {
		return err
	}
	return d.checkChoose(caps, sampling)
}

func (d *Detector) checkChoose(caps Capabilities, sampling vote.Sampling) error {
	if err := sampling.Validate(); err != nil {
		return fault.Permanentf("find the distribution behind the votes", "bad_sampling", "%w", err)
	}
	if why := d.noChoice(caps); why != "" {
		return impossible("find the distribution behind the votes", why)
	}
	return nil
}

func impossible(op, why string) error {
	return &fault.Error{
		Kind: fault.Permanent, Op: op, Code: "analytic_impossible",
		Err: errors.New(why), Hint: "use sampled votes, or early-stop",
	}
}

// noChoice says why the distribution behind the votes can't be known; "" where it
// can.
func (d *Detector) noChoice(caps Capabilities) string {
	switch {
	case d.strategy.Reasons:
		return fmt.Sprintf("strategy %s has every pass think its own thoughts: the answers have no distribution in common", d.strategy.Name)
	case caps.Dialect != VLLM && caps.Dialect != Llama:
		return "in which order the server samples is unknown"
	case !caps.Samplers:
		return "the server doesn't show that it samples in the order that it is told"
	case caps.Choice == "":
		return "the server doesn't constrain answers to the letters"
	case !caps.Logprobs:
		return "the server gives no logprobs"
	}
	return ""
}

// choiceMethod names how Choose comes to its distribution.
func (c Capabilities) choiceMethod() string {
	if c.Dialect == VLLM {
		return "logprobs after the mask"
	}
	return "raw logprobs; drawn freely, and again among the letters where the grammar refuses"
}

// Choose returns the distribution that Decide's constrained answer is drawn from,
// by one more call; by two where llama-server's most probable tokens don't tell
// it. An item with nothing to judge is as likely to be either: that decides
// nothing, as its passes would.
//
// Where it can't be known the fault has the code analytic_impossible.
func (d *Detector) Choose(ctx context.Context, item detect.Item, sampling vote.Sampling) (detect.Choice, error) {
	p, err := d.read(ctx, item)
	if err != nil {
		return detect.Choice{}, err
	}
	if err := d.checkChoose(p.Capabilities, sampling); err != nil {
		return detect.Choice{}, err
	}
	if p.Nothing != "" {
		return detect.Choice{Yes: vote.One / 2, PYes: p.PYes, Method: "nothing to judge: " + p.Nothing}, nil
	}
	t, err := d.load(ctx, item)
	if err != nil {
		return detect.Choice{}, err
	}
	choose := d.chooseByRejection
	if p.Capabilities.Dialect == VLLM {
		choose = d.chooseMasked
	}
	share, sent, err := choose(ctx, p.Capabilities, t, sampling)
	if err != nil {
		return detect.Choice{}, err
	}
	yes := vote.Nano(math.Round(share * float64(vote.One)))
	return detect.Choice{Yes: yes, PYes: p.PYes, Method: p.Capabilities.choiceMethod(), Prompt: sent}, nil
}

// chooseMasked reads the letters' probabilities under the constraint: vLLM shows
// what is left after the mask, before its samplers.
func (d *Detector) chooseMasked(ctx context.Context, caps Capabilities, t target, sampling vote.Sampling) (share float64, sent string, err error) {
	q := question{stage: prompt.Decide, sampling: plainSampling, maxTokens: 1, choice: []string{"A", "B"}, logprobs: true}
	r, err := d.ask(ctx, caps, t, q)
	if err != nil {
		return 0, "", err
	}
	yes, no := d.config.Order.Letters()
	a, b := r.first.p[yes], r.first.p[no]
	if math.Abs(a+b-1) > tolerance {
		return 0, "", impossible("choose for "+t.id, fmt.Sprintf("under the constraint the letters have the probabilities %.4g and %.4g, not 1 together: the logprobs are not those after the mask", a, b))
	}
	return among(a, b, sampling), r.prompt, nil
}

// chooseByRejection rebuilds what llama-server does from its raw probabilities:
// of the most probable tokens or, where they don't tell it, of all.
func (d *Detector) chooseByRejection(ctx context.Context, caps Capabilities, t target, sampling vote.Sampling) (share float64, sent string, err error) {
	yes, no := d.config.Order.Letters()
	for _, top := range []int{caps.TopLogprobs, maxVocabulary} {
		q := question{stage: prompt.Decide, sampling: plainSampling, maxTokens: 1, logprobs: true, top: top}
		r, err := d.ask(ctx, caps, t, q)
		if err != nil {
			return 0, "", err
		}
		if !r.hasFirst {
			break
		}
		complete := len(r.first.listed) < top
		share, ok := newRejection(r.first, complete, sampling).share(r.first.letter(yes), r.first.letter(no))
		if ok {
			return share, r.prompt, nil
		}
	}
	return 0, "", impossible("choose for "+t.id, "the server's logprobs leave room for more than one distribution")
}

func (d distribution) letter(token string) letter {
	if p, ok := d.p[token]; ok {
		return letter{p: p, listed: true}
	}
	return letter{p: d.floor}
}
