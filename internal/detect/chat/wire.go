package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// request is a chat completion as servers read it. Sampling is always explicit:
// what is left out, a server fills in from its own or the model's defaults.
type request struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Temperature float64   `json:"temperature"`
	TopP        float64   `json:"top_p"`
	Seed        int64     `json:"seed"`
	MaxTokens   int       `json:"max_tokens"`
	Logprobs    bool      `json:"logprobs,omitempty"`
	TopLogprobs int       `json:"top_logprobs,omitempty"`

	// vLLM and llama-server
	TopK *int     `json:"top_k,omitempty"`
	MinP *float64 `json:"min_p,omitempty"`
	// vLLM
	StructuredOutputs    *structuredOutputs `json:"structured_outputs,omitempty"`
	RepetitionPenalty    *float64           `json:"repetition_penalty,omitempty"`
	AddGenerationPrompt  *bool              `json:"add_generation_prompt,omitempty"`
	ContinueFinalMessage *bool              `json:"continue_final_message,omitempty"`
	// llama-server
	Grammar       string   `json:"grammar,omitempty"`
	Samplers      []string `json:"samplers,omitempty"`
	RepeatPenalty *float64 `json:"repeat_penalty,omitempty"`
	CachePrompt   *bool    `json:"cache_prompt,omitempty"`
}

type structuredOutputs struct {
	Choice []string `json:"choice"`
}

// message has a string as its content where it is text only: the one form that
// every server and every chat template takes.
type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // string or []part
}

type part struct {
	Type       string      `json:"type"`
	Text       string      `json:"text,omitempty"`
	InputAudio *inputAudio `json:"input_audio,omitempty"`
}

type inputAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`

	hash string // of the clip
}

// reply is what of a completion matters here.
type reply struct {
	text         string
	prompt       string // SHA-256 of what was asked
	promptTokens int    // 0 where the server doesn't say
	replyTokens  int    // the same
	hasFirst     bool   // the server gave logprobs of the first token
	first        distribution
}

type completion struct {
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Message struct {
			Content *string `json:"content"`
		} `json:"message"`
		Logprobs *struct {
			Content []tokenLogprob `json:"content"`
		} `json:"logprobs"`
	} `json:"choices"`
	Usage struct {
		PromptTokens int `json:"prompt_tokens"`
		ReplyTokens  int `json:"completion_tokens"`
	} `json:"usage"`
}

type tokenLogprob struct {
	candidate
	TopLogprobs []candidate `json:"top_logprobs"`
}

// candidate is one token and its probability. Bytes are exact where the server
// gives them; the text of a token may be cut inside a character.
type candidate struct {
	Token   string   `json:"token"`
	Bytes   []int    `json:"bytes"`
	Logprob *float64 `json:"logprob"` // absent under llama-server's post_sampling_probs
}

func (c candidate) spelling() string {
	if len(c.Bytes) == 0 {
		return c.Token
	}
	raw := make([]byte, len(c.Bytes))
	for i, b := range c.Bytes {
		raw[i] = byte(b)
	}
	return string(raw)
}

func (c candidate) probability() (p float64, ok bool) {
	if c.Logprob == nil {
		return 0, false
	}
	return math.Exp(min(*c.Logprob, 0)), true
}

// parseReply reads a completion. The error says what of it is missing.
func parseReply(data []byte) (reply, error) {
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return reply{}, fmt.Errorf("the reply is no chat completion: %w", err)
	}
	if len(c.Choices) == 0 {
		return reply{}, errors.New("the reply has no choice")
	}
	var out reply
	out.promptTokens, out.replyTokens = max(c.Usage.PromptTokens, 0), max(c.Usage.ReplyTokens, 0)
	choice := c.Choices[0]
	if choice.Message.Content != nil {
		out.text = *choice.Message.Content
	}
	if choice.Logprobs != nil && len(choice.Logprobs.Content) > 0 {
		out.first, out.hasFirst = newDistribution(choice.Logprobs.Content[0])
	}
	return out, nil
}

// distribution is the first token's probabilities as far as a server shows them.
type distribution struct {
	p      map[string]float64 // by the token's spelling
	floor  float64            // of a token that isn't among them: at most this
	listed []float64          // of every token, those spelled alike apart
}

// newDistribution takes the listed tokens, and the sampled one, which may be
// missing from the list.
func newDistribution(t tokenLogprob) (distribution, bool) {
	d := distribution{p: map[string]float64{}, floor: 1}
	sum := 0.0
	for _, c := range t.TopLogprobs {
		if p, ok := c.probability(); ok {
			d.p[c.spelling()] += p // a vocabulary may spell two tokens alike
			d.listed = append(d.listed, p)
			d.floor = min(d.floor, p)
			sum += p
		}
	}
	if _, listed := d.p[t.spelling()]; !listed {
		if p, ok := t.probability(); ok {
			d.p[t.spelling()] = p
			d.listed = append(d.listed, p)
			sum += p
		}
	}
	// Whatever isn't listed has to share what the list leaves.
	d.floor = min(d.floor, max(1-sum, 0))
	return d, len(d.p) > 0
}
