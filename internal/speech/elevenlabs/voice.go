package elevenlabs

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/speechmanip/speechmanip/internal/voice"
)

// settings is how a voice speaks. What is nil is as its owner set it.
type settings struct {
	Stability  *float64 `json:"stability,omitempty"`
	Similarity *float64 `json:"similarity_boost,omitempty"`
	Style      *float64 `json:"style,omitempty"`
	Boost      *bool    `json:"use_speaker_boost,omitempty"`
	Speed      *float64 `json:"speed,omitempty"`
}

// vendorVoice is a pool's voice as the service knows it.
type vendorVoice struct {
	id       string
	model    string
	settings *settings // nil when the voice sets none
}

// voiceID is what stands in a URL: nothing that could lead elsewhere.
var (
	voiceID = regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)
	decimal = regexp.MustCompile(`^[0-9](\.[0-9]{1,6})?$`)
)

// paramKeys are the params that a voice may have. Only id must be there; without
// model it is DefaultModel.
var paramKeys = []string{"id", "model", "similarity_boost", "speed", "stability", "style", "use_speaker_boost"}

// parseVoice reads a voice's params, and returns all that is wrong with them.
func parseVoice(v voice.Voice) (vendorVoice, error) {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, key := range slices.Sorted(maps.Keys(v.Params)) {
		if !slices.Contains(paramKeys, key) {
			problem("param %s is unknown; there are %s", key, strings.Join(paramKeys, ", "))
		}
	}
	if !voiceID.MatchString(v.Params["id"]) {
		problem("param id is %q, want the letters and digits of a voice id", v.Params["id"])
	}
	model, ok := v.Params["model"]
	if !ok {
		model = DefaultModel
	}
	if limits[model] == 0 {
		problem("param model is %q, want one of %s", model, strings.Join(Models(), ", "))
	}
	number := func(key string, least, most float64) *float64 {
		text, ok := v.Params[key]
		if !ok {
			return nil
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || !decimal.MatchString(text) || value < least || value > most {
			problem("param %s is %q, want a number from %g to %g", key, text, least, most)
		}
		return &value
	}
	s := settings{
		Stability:  number("stability", 0, 1),
		Similarity: number("similarity_boost", 0, 1),
		Style:      number("style", 0, 1),
		Speed:      number("speed", 0.7, 1.2),
	}
	if text, ok := v.Params["use_speaker_boost"]; ok {
		boost := text == "true"
		if !boost && text != "false" {
			problem("param use_speaker_boost is %q, want true or false", text)
		}
		s.Boost = &boost
	}
	if err := errors.Join(problems...); err != nil {
		return vendorVoice{}, fmt.Errorf("voice %q: %w", v.Slug, err)
	}
	out := vendorVoice{id: v.Params["id"], model: model}
	if s != (settings{}) {
		out.settings = &s
	}
	return out, nil
}
