package chat

import (
	"fmt"
	"math"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
)

// Dialect is how a server departs from the common protocol.
type Dialect string

// The dialects.
const (
	Auto    Dialect = "auto" // found by the probe
	VLLM    Dialect = "vllm"
	Llama   Dialect = "llama-server"
	Generic Dialect = "generic" // only what all servers share
)

// Dialects returns the values of Config.Dialect.
func Dialects() []Dialect { return []Dialect{Auto, VLLM, Llama, Generic} }

// The ways to constrain an answer and to continue a begun one.
const (
	choiceStructured = "structured_outputs"
	choiceGrammar    = "grammar"

	prefillFields   = "continue_final_message"
	prefillTrailing = "trailing assistant message"
)

// Capabilities is what a probe found out about a server, for one detector's
// settings. It is small and plain: store it, and give it back in Config.
type Capabilities struct {
	Dialect       Dialect             `json:"dialect"`
	Server        string              `json:"server"` // program and version, as it says
	Model         string              `json:"model"`
	Fingerprint   string              `json:"fingerprint"`
	Context       int                 `json:"context"` // tokens that fit; 0 is unknown
	Slots         int                 `json:"slots"`   // answers at once; 0 is unknown
	Choice        string              `json:"choice"`  // the constraint that binds; "" is none
	Logprobs      bool                `json:"logprobs"`
	TopLogprobs   int                 `json:"top_logprobs"`              // candidates that the server gives
	Prefill       string              `json:"prefill"`                   // how to continue a begun answer; "" is not at all
	Pieces        map[string][]string `json:"pieces,omitempty"`          // the tokens of every tactic's spelling
	NoPromptCache bool                `json:"no_prompt_cache,omitempty"` // as Config says
	PromptText    int                 `json:"prompt_text"`               // tokens of the decision prompt without its clips; 0 is unknown
	Audio         Hearing             `json:"audio"`
	Samplers      bool                `json:"samplers,omitempty"`     // the order of its samplers is the one it is sent, or known
	PrefixCache   bool                `json:"prefix_cache,omitempty"` // prompts that begin alike are read once
	Servers       int                 `json:"servers,omitempty"`      // that are alike
	Notes         []string            `json:"notes,omitempty"`        // what was refused, and why
}

// Hearing is whether a server listens, and what a clip costs in prompt tokens:
// PerSecond for every second, or PerBlock for every started BlockSeconds, and
// PerClip once. Unchecked servers show no rule.
type Hearing struct {
	Works        bool    `json:"works"`
	Why          string  `json:"why"` // what the probe saw
	PerSecond    float64 `json:"per_second,omitempty"`
	PerBlock     int     `json:"per_block,omitempty"`
	BlockSeconds float64 `json:"block_seconds,omitempty"`
	PerClip      int     `json:"per_clip,omitempty"`
}

// rule names what a clip costs.
func (h Hearing) rule() string {
	switch {
	case !h.Works:
		return "no audio"
	case h.PerBlock > 0:
		return fmt.Sprintf("%d tokens for each started %g s, and %d", h.PerBlock, h.BlockSeconds, h.PerClip)
	case h.PerSecond > 0:
		return fmt.Sprintf("%g tokens a second, and %d", h.PerSecond, h.PerClip)
	}
	return "tokens unknown"
}

// checked reports whether truncation can be told from the prompt's tokens.
func (h Hearing) checked() bool { return h.PerSecond > 0 || h.PerBlock > 0 }

// tokens returns the prompt tokens of a clip, at least: a server may round a
// clip's end either way, so the rate's last token isn't asked for.
func (h Hearing) tokens(seconds float64) int {
	if h.PerBlock > 0 {
		return h.PerBlock*(1+int(seconds/h.BlockSeconds)) + h.PerClip
	}
	return max(int(math.Floor(h.PerSecond*seconds))-1, 0) + h.PerClip
}

// Refuse returns a permanent fault where the server can't judge the modality.
func (c Capabilities) Refuse(m detect.Modality) error {
	if m != detect.Audio || c.Audio.Works {
		return nil
	}
	return &fault.Error{
		Kind: fault.Permanent, Op: "probe the chat server", Code: "audio_ignored",
		Err:  fmt.Errorf("%s with model %s does not hear audio: %s", c.Server, c.Model, c.Audio.Why),
		Hint: "use a model and a server that take input_audio, or the modality text or asr",
	}
}
