package chat

import (
	"context"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// plainSampling leaves the model's distribution as it is: logprobs then mean the
// same on servers that report them before and after their samplers.
var plainSampling = vote.Sampling{Temperature: 1, TopP: 1}

// greedy takes the most probable token.
var greedy = vote.Sampling{Temperature: 0, TopP: 1}

// question is one call about a target.
type question struct {
	stage     prompt.Stage
	tactic    tactic.Tactic // stages Quote and QuoteRetry
	reasoning string        // after stage Reason
	sampling  vote.Sampling
	seed      int64
	maxTokens int
	choice    []string // the answer is one of these, where the server can constrain
	logprobs  bool     // of the first token; together with choice in Choose only
	top       int      // candidates to ask for; 0 is the capabilities'
	prefill   string   // what the answer begins with
}

// ask makes one call.
func (d *Detector) ask(ctx context.Context, caps Capabilities, t target, q question) (reply, error) {
	op := fmt.Sprintf("ask %s about %s (%s)", caps.Model, t.id, q.stage)
	messages, err := d.strategy.Render(prompt.Request{
		Stage: q.stage, Input: t.input, Order: d.config.Order, Exemplars: d.exemplars,
		Text: t.text, Tactic: q.tactic, Reasoning: q.reasoning,
	})
	if err != nil {
		return reply{}, fault.Permanentf(op, "bad_prompt", "%w", err)
	}
	r := newRequest(caps, d.fill(messages, t.clip), q)
	sent, err := hashPrompt(r.Messages)
	if err != nil {
		return reply{}, fault.Permanentf(op, "bad_prompt", "%w", err)
	}
	out, err := d.complete(ctx, op, t, r)
	if err != nil {
		return reply{}, err
	}
	out.prompt = sent
	return out, d.checkHeard(op, caps, t, 0, out)
}

// joinTokens is what text may shrink by where a clip parts it: about 0.2 s of
// audio.
const joinTokens = 4

// checkHeard fails where the prompt has fewer tokens than its text and its clips
// take: then the server cut a clip, and answered all the same.
func (d *Detector) checkHeard(op string, caps Capabilities, t target, text int, r reply) error {
	if t.clip.data == "" || r.promptTokens == 0 || !caps.Audio.checked() {
		return nil
	}
	want := text + d.audioTokens(caps, t)
	if text > 0 {
		want -= joinTokens * (1 + len(d.clips))
	}
	if r.promptTokens < want {
		return &fault.Error{
			Kind: fault.Permanent, Op: op, Code: "clip_truncated",
			Err:  fmt.Errorf("the prompt has %d tokens, with the whole clip of %.1f s it has at least %d: the server cut it", r.promptTokens, t.clip.seconds, want),
			Hint: "raise the server's limit on audio length",
		}
	}
	return nil
}

// audioTokens returns the tokens of the target's clip and the exemplars'.
func (d *Detector) audioTokens(caps Capabilities, t target) int {
	n := caps.Audio.tokens(t.clip.seconds)
	for _, c := range d.clips {
		n += caps.Audio.tokens(c.seconds)
	}
	return n
}
