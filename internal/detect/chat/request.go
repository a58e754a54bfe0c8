package chat

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/speechmanip/speechmanip/internal/prompt"
)

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
