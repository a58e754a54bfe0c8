package program

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// Number is a param of a voice that an engine needs: a decimal number from Min
// to Max, without a fraction when Whole.
type Number struct {
	Key      string
	Min, Max float64
	Whole    bool
	Optional bool
}

func (n Number) kind() string {
	if n.Whole {
		return "whole number"
	}
	return "number"
}

// RelabelKey is the param with the sample rate in Hz that the audio of a voice
// is labelled with.
const RelabelKey = "relabel_hz"

// VoiceKey is the param with the engine's own name of a voice.
const VoiceKey = "voice"

var decimal = regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,6})?$`)

// checkVoice returns what is wrong with a voice's params: keys that mean
// nothing, missing or bad numbers, or a voice that is not in installed.
func checkVoice(v voice.Voice, installed []string, numbers []Number) (code string, err error) {
	known := []string{VoiceKey}
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, n := range numbers {
		known = append(known, n.Key)
		text, given := v.Params[n.Key]
		value, err := strconv.ParseFloat(text, 64)
		switch {
		case !given && n.Optional:
		case !given:
			problem("param %s is missing", n.Key)
		case err != nil || !decimal.MatchString(text) || value < n.Min || value > n.Max, n.Whole && strings.Contains(text, "."):
			problem("param %s is %q, want a %s from %g to %g", n.Key, text, n.kind(), n.Min, n.Max)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v.Params)) {
		if !slices.Contains(known, key) {
			problem("param %s is unknown; there are %s", key, strings.Join(known, ", "))
		}
	}
	code = "voice_params"
	if name := v.Params[VoiceKey]; !slices.Contains(installed, name) {
		code = "voice_not_found"
		problem("the engine has no voice %q; it has %s", name, strings.Join(installed, ", "))
	}
	return code, errors.Join(problems...)
}

// CheckVoice returns a Permanent fault that names the voice's slug when its
// params are wrong or its voice is not among those installed.
func (e Engine) CheckVoice(v voice.Voice, installed []string, numbers []Number) error {
	if code, err := checkVoice(v, installed, numbers); err != nil {
		return fault.Permanentf("check voice "+strconv.Quote(v.Slug)+" for "+e.Name, code, "%w", err)
	}
	return nil
}

// CheckPool returns a Permanent fault that names every wrong voice of the pool,
// or says that the pool is another synthesizer's.
func (e Engine) CheckPool(pool voice.Pool, installed []string, numbers []Number) error {
	op := fmt.Sprintf("check voice pool %q for %s", pool.Name, e.Name)
	if err := pool.Validate(); err != nil {
		return fault.Permanentf(op, "pool_invalid", "%w", err)
	}
	if pool.Synthesizer != e.Name {
		return fault.Permanentf(op, "pool_of_another", "its voices are those of synthesizer %q", pool.Synthesizer)
	}
	var problems []error
	for _, v := range pool.Voices {
		if err := e.CheckVoice(v, installed, numbers); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return fault.Permanentf(op, "voices", "%w", errors.Join(problems...))
	}
	return nil
}
