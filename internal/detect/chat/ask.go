package chat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
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

// target is an item as it is sent.
type target struct {
	id      string
	input   prompt.Input
	text    string
	clip    clip
	nothing string // why there is nothing to judge; "" where there is
}

// load reads what the modality allows of an item.
func (d *Detector) load(ctx context.Context, item detect.Item) (target, error) {
	t := target{id: item.ID, input: prompt.Input(item.Modality)}
	op := "read dialogue " + item.ID
	switch item.Modality {
	case detect.Text:
		for _, turn := range item.Turns {
			if strings.TrimSpace(turn.Text) != "" {
				t.text = prompt.Lines(item.Turns)
			}
		}
	case detect.ASR:
		if item.Transcript == nil {
			return target{}, fault.Permanentf(op, "no_transcript", "modality asr came without a transcript")
		}
		transcript, err := item.Transcript(ctx)
		if err != nil {
			return target{}, err
		}
		words := make([]string, len(transcript.Words))
		for i, w := range transcript.Words {
			words[i] = w.Text
		}
		t.text = strings.TrimSpace(strings.Join(words, " "))
	case detect.Audio:
		return d.loadAudio(ctx, item, t)
	default:
		return target{}, fault.Permanentf(op, "bad_modality", "unknown modality %q", item.Modality)
	}
	if t.text == "" {
		t.nothing = "the dialogue has no words"
	}
	return t, nil
}

func (d *Detector) loadAudio(ctx context.Context, item detect.Item, t target) (target, error) {
	op := "read clip " + item.ID
	if item.Audio == nil {
		return target{}, fault.Permanentf(op, "no_audio", "modality audio came without a clip")
	}
	pcm, err := item.Audio(ctx)
	if err != nil {
		return target{}, err
	}
	if seconds := pcm.Seconds(); seconds > d.config.MaxAudioSeconds {
		return target{}, fault.Permanentf(op, "clip_too_long", "it is %.1f s long, the model hears at most %.0f s", seconds, d.config.MaxAudioSeconds)
	}
	for i, c := range d.clips {
		if c.data == "" {
			return target{}, fault.Permanentf(op, "no_audio", "exemplar %s has no clip", d.exemplars[i].ID)
		}
	}
	if t.clip, err = newClip(pcm); err != nil {
		return target{}, fault.Permanentf(op, "bad_audio", "%w", err)
	}
	if t.clip.data == "" {
		t.nothing = fmt.Sprintf("the clip is shorter than %.1f s", minClipSeconds)
	}
	return t, nil
}

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

// fill puts the clips in their places. Neighbouring texts are joined here,
// because servers join them in different ways.
func (d *Detector) fill(messages []prompt.Message, target clip) []message {
	out := make([]message, len(messages))
	for i, m := range messages {
		var parts []part
		for _, p := range m.Parts {
			var c clip
			switch {
			case p.Clip == prompt.Target:
				c = target
			case p.Clip != prompt.NoClip:
				c = d.clips[p.Clip-1]
			}
			last := len(parts) - 1
			switch {
			case c.data != "":
				parts = append(parts, part{Type: "input_audio", InputAudio: &inputAudio{Data: c.data, Format: "wav", hash: c.hash}})
			case p.Text != "" && last >= 0 && parts[last].Type == "text":
				parts[last].Text += "\n\n" + p.Text
			case p.Text != "":
				parts = append(parts, part{Type: "text", Text: p.Text})
			}
		}
		out[i] = message{Role: string(m.Role), Content: parts}
		if len(parts) == 1 && parts[0].Type == "text" {
			out[i].Content = parts[0].Text
		}
	}
	return out
}

// hashPrompt returns the SHA-256, in hex, of messages as JSON with each clip's
// own SHA-256 in place of its data.
func hashPrompt(messages []message) (string, error) {
	short := make([]message, len(messages))
	for i, m := range messages {
		short[i] = m
		parts, ok := m.Content.([]part)
		if !ok {
			continue
		}
		named := make([]part, len(parts))
		for k, p := range parts {
			if p.InputAudio != nil {
				p.InputAudio = &inputAudio{Data: p.InputAudio.hash, Format: p.InputAudio.Format}
			}
			named[k] = p
		}
		short[i].Content = named
	}
	data, err := json.Marshal(short)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// newRequest says everything explicitly that a server could fill in otherwise.
func newRequest(caps Capabilities, messages []message, q question) request {
	r := request{
		Model: caps.Model, Messages: messages, MaxTokens: q.maxTokens,
		Temperature: q.sampling.Temperature, TopP: q.sampling.TopP, Seed: q.seed,
	}
	if r.Temperature == 0 {
		r.TopP = 1 // means nothing then, and 0 is refused by some servers
	}
	if q.logprobs && caps.Logprobs {
		r.Logprobs, r.TopLogprobs = true, cmp.Or(q.top, caps.TopLogprobs)
	}
	zero, one, off := 0.0, 1.0, false
	switch caps.Dialect {
	case VLLM:
		all := -1
		r.TopK, r.MinP, r.RepetitionPenalty = &all, &zero, &one
	case Llama:
		all := 0
		r.TopK, r.MinP, r.RepeatPenalty = &all, &zero, &one
		r.Samplers = []string{"temperature", "top_p"} // temperature first, as the paper draws
		if caps.NoPromptCache {
			r.CachePrompt = &off
		}
	}
	if len(q.choice) > 0 {
		switch caps.Choice {
		case choiceStructured:
			r.StructuredOutputs = &structuredOutputs{Choice: q.choice}
		case choiceGrammar:
			r.Grammar = grammar(q.choice)
		}
	}
	if q.prefill != "" {
		r.Messages = append(r.Messages, message{Role: string(prompt.Assistant), Content: q.prefill})
		if caps.Prefill == prefillFields {
			on := true
			r.AddGenerationPrompt, r.ContinueFinalMessage = &off, &on
		}
	}
	return r
}

// grammar returns the GBNF of one of the words.
func grammar(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
	}
	return "root ::= " + strings.Join(quoted, " | ")
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
