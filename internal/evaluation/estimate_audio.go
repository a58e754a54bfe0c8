package evaluation

import (
	"slices"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Rate is how fast speech goes, pauses between turns included.
type Rate struct {
	PerSecond float64 `json:"characters_per_second"` // as they are sent to the synthesizer
	Source    string  `json:"source"`                // where it was measured
}

// Seconds returns how long a dialogue's clip is expected to be, 0 where no clip is
// needed.
func (r Rate) Seconds(spec Spec, d dialogue.Dialogue) float64 {
	if !spec.Heard() {
		return 0
	}
	spec.Dataset.Clips = false // a clip that exists speaks the text too
	_, characters := Spoken(spec, d)
	return float64(characters) / r.PerSecond
}

// AudioTokens is what prompts with clips cost a language model's input, by the
// server that it runs on. The prompts' text comes on top.
type AudioTokens struct {
	VLLM        int64 `json:"vllm"`
	LlamaServer int64 `json:"llama_server"`
}

// ClipTokens returns the tokens of one clip in one prompt: vLLM takes 25 a second;
// llama-server takes 750 for every 30 s that were begun, and 2 that mark the clip.
func ClipTokens(seconds float64) AudioTokens {
	if seconds <= 0 {
		return AudioTokens{}
	}
	return AudioTokens{VLLM: int64(25*seconds + 0.5), LlamaServer: 750*(int64(seconds/30)+1) + 2}
}

// Add returns the sum.
func (t AudioTokens) Add(other AudioTokens) AudioTokens {
	return AudioTokens{t.VLLM + other.VLLM, t.LlamaServer + other.LlamaServer}
}

// Times returns t in n prompts.
func (t AudioTokens) Times(n int) AudioTokens {
	return AudioTokens{t.VLLM * int64(n), t.LlamaServer * int64(n)}
}

// HearingQuestions returns the most questions about one dialogue that carry its
// clip; 0 for detectors without prompts.
func HearingQuestions(spec Spec) int {
	if spec.Detection.Strategy == "" || !slices.Contains(spec.Detection.Modalities(), detect.Audio) {
		return 0
	}
	return questionsAbout(spec).Total()
}
