package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Answers of a letter and of free text, in tokens.
const (
	letterTokens = 4
	freeTokens   = 16
)

// maxReplyText bounds a stored answer, in bytes.
const maxReplyText = 8 << 10

// prepared is what an item's passes share.
type prepared struct {
	Capabilities Capabilities `json:"capabilities"`
	Nothing      string       `json:"nothing,omitempty"` // why there is nothing to judge
	Seconds      float64      `json:"seconds,omitempty"`
	PromptTokens int          `json:"prompt_tokens,omitempty"`
	Yes          vote.Mass    `json:"yes"` // of the letter for YES, unconstrained
	No           vote.Mass    `json:"no"`
	PYes         vote.Mass    `json:"p_yes"` // of YES among the two letters
}

// Prepare makes the one call whose answer no sampling changes: the letters'
// unconstrained probabilities. It also warms the server's prefix cache, refuses
// a server that doesn't hear, and finds clips that were cut or don't fit.
func (d *Detector) Prepare(ctx context.Context, item detect.Item) ([]byte, error) {
	p, err := d.prepare(ctx, item)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

func (d *Detector) prepare(ctx context.Context, item detect.Item) (prepared, error) {
	caps, err := d.capabilities(ctx)
	if err != nil {
		return prepared{}, err
	}
	if err := caps.Refuse(item.Modality); err != nil {
		return prepared{}, err
	}
	t, err := d.load(ctx, item)
	if err != nil {
		return prepared{}, err
	}
	p := prepared{Capabilities: caps, Nothing: t.nothing, Seconds: t.clip.seconds, PYes: vote.Mass{P: vote.One}}
	if t.nothing != "" {
		return p, nil
	}
	op := fmt.Sprintf("prepare %s", item.ID)
	if need := caps.PromptText + d.audioTokens(caps, t) + d.config.ReasonTokens; t.clip.data != "" && caps.Context > 0 && need > caps.Context {
		return prepared{}, fault.Permanentf(op, "context_exceeded",
			"its clip of %.1f s takes about %d tokens with the prompt, the model's window is %d", t.clip.seconds, need, caps.Context)
	}
	r, yes, no, err := d.letters(ctx, caps, t, "")
	if err != nil {
		return prepared{}, err
	}
	if err := d.checkHeard(op, caps, t, caps.PromptText, r); err != nil {
		return prepared{}, err
	}
	p.PromptTokens, p.Yes, p.No, p.PYes = r.promptTokens, yes, no, share(yes, no)
	return p, nil
}

// letters asks for the decision without a constraint and returns the letters'
// raw probabilities; unobserved where the server gives none.
func (d *Detector) letters(ctx context.Context, caps Capabilities, t target, reasoning string) (r reply, yes, no vote.Mass, err error) {
	r, err = d.ask(ctx, caps, t, question{stage: prompt.Decide, reasoning: reasoning, sampling: plainSampling, maxTokens: 1, logprobs: true})
	if err != nil {
		return r, yes, no, err
	}
	y, n := d.config.Order.Letters()
	return r, r.mass(y, " "+y), r.mass(n, " "+n), nil
}

// read returns what was prepared for an item, or prepares it.
func (d *Detector) read(ctx context.Context, item detect.Item) (prepared, error) {
	if err := ctx.Err(); err != nil {
		return prepared{}, fmt.Errorf("judge %s: %w", item.ID, err)
	}
	if len(item.Prepared) == 0 {
		return d.prepare(ctx, item)
	}
	var p prepared
	if err := json.Unmarshal(item.Prepared, &p); err != nil || p.Capabilities.Model == "" {
		return prepared{}, fault.Permanentf("judge "+item.ID, "bad_prepared", "what was prepared for it can't be read: %v", err)
	}
	return p, p.Capabilities.Refuse(item.Modality)
}

// Decide makes one pass: one call, or two for strategies that reason, and one
// more where the answer is neither letter.
func (d *Detector) Decide(ctx context.Context, item detect.Item, pass detect.Pass) (detect.Decision, error) {
	p, err := d.read(ctx, item)
	if err != nil {
		return detect.Decision{}, err
	}
	invalid := detect.Decision{Vote: vote.VoteInvalid, Method: vote.Failed, PYes: p.PYes, Reply: p.Nothing}
	if p.Nothing != "" {
		return invalid, nil
	}
	t, err := d.load(ctx, item)
	if err != nil {
		return detect.Decision{}, err
	}
	caps := p.Capabilities

	var reasoning string
	if d.strategy.Reasons {
		if reasoning, err = d.reason(ctx, caps, t, pass); err != nil {
			return detect.Decision{}, err
		}
		_, yes, no, err := d.letters(ctx, caps, t, reasoning)
		if err != nil {
			return detect.Decision{}, err
		}
		p.PYes = share(yes, no)
	}

	q := question{stage: prompt.Decide, reasoning: reasoning, sampling: pass.Sampling, seed: pass.Seed, maxTokens: letterTokens, choice: []string{"A", "B"}}
	if caps.Choice == "" {
		q.maxTokens = freeTokens
	}
	r, err := d.ask(ctx, caps, t, q)
	if err != nil {
		return detect.Decision{}, err
	}
	decision := detect.Decision{
		Method: vote.Constrained, PYes: p.PYes, Reply: storable(strings.TrimSpace(reasoning + "\n\n" + r.text)), Prompt: r.prompt,
	}
	if caps.Choice == "" {
		decision.Method = vote.Parsed
	}
	// A server that ignores the constraint answers something else.
	decision.Vote = d.readLetter(r.text, caps.Choice != "")
	if decision.Vote == vote.VoteInvalid {
		decision.Vote, decision.Method, err = d.fallback(ctx, caps, t, reasoning)
	}
	return decision, err
}

// reason asks for the thoughts before a decision.
func (d *Detector) reason(ctx context.Context, caps Capabilities, t target, pass detect.Pass) (string, error) {
	r, err := d.ask(ctx, caps, t, question{stage: prompt.Reason, sampling: pass.Sampling, seed: pass.Seed, maxTokens: d.config.ReasonTokens})
	if err != nil {
		return "", err
	}
	if text := storable(strings.TrimSpace(r.text)); text != "" {
		return text, nil
	}
	return "(nothing)", nil
}

// fallback decides by the words for yes and no where neither letter came.
func (d *Detector) fallback(ctx context.Context, caps Capabilities, t target, reasoning string) (vote.Vote, vote.Method, error) {
	if !caps.Logprobs {
		return vote.VoteInvalid, vote.Failed, nil
	}
	_, yes, no, err := d.words(ctx, caps, t, reasoning)
	if err != nil {
		return "", "", err
	}
	v, method := vote.DecideFallback(yes, no, d.config.Rules)
	return v, method, nil
}

// storable bounds an answer and makes it valid text.
func storable(text string) string {
	if len(text) > maxReplyText {
		text = text[:maxReplyText]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
