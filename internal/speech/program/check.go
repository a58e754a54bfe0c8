package program

import (
	"fmt"
	"strconv"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// CheckText returns what the engine is to be given for the request, as ASCII,
// or a Permanent fault when that has no word or is too long.
func (e Engine) CheckText(text string) (string, error) {
	op := "speak with " + e.Name
	ascii := speech.ASCII(text)
	switch {
	case !speech.HasWords(text):
		return "", fault.Permanentf(op, "text_empty", "the text %.40q has no word", text)
	case !speech.HasWords(ascii):
		return "", fault.Permanentf(op, "text_unspeakable", "the text %.40q has no Latin letter or digit; the engine's voices are English", text)
	case len(ascii) > MaxCharacters:
		return "", fault.Permanentf(op, "text_too_long", "%d characters in one turn, at most %d", len(ascii), MaxCharacters)
	}
	return ascii, nil
}

// Label checks that file is speech of the text at the engine's own rate in Hz
// and returns it relabelled with the voice's rate. A file that is broken is a
// Transient fault (a full disk, say); one that is no speech is Permanent, as the
// engine would give the same again.
func (e Engine) Label(file []byte, text string, rate int, v voice.Voice) ([]byte, error) {
	op := fmt.Sprintf("speak with %s in voice %q", e.Name, v.Slug)
	wav, err := ParseWAV(file)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Transient, Op: op, Code: "audio_broken", Err: err}
	}
	if wav.Rate() != rate {
		return nil, fault.Permanentf(op, "audio_rate", "the audio's sample rate is %d Hz, want %d", wav.Rate(), rate)
	}
	if err := wav.CheckSpeech(text); err != nil {
		return nil, fault.Permanentf(op, "audio_implausible", "%w (text %.40q)", err, text)
	}
	relabelled, err := strconv.Atoi(v.Params[RelabelKey])
	if err != nil {
		return nil, fault.Permanentf(op, "voice_params", "param %s: %w", RelabelKey, err)
	}
	return wav.Relabel(relabelled), nil
}
