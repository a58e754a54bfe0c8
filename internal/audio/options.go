package audio

import (
	"errors"
	"fmt"
	"math"
)

// ComposeVersion names the composition algorithm. It is part of every clip's content key:
// raise it whenever the same input would give different bytes.
const ComposeVersion = 1

// Level says what gets a loudness gain of its own before the clip as a whole is brought to
// its target.
type Level string

const (
	LevelSpeaker Level = "speaker" // one gain a speaker, over all its turns: keeps whispering and shouting apart
	LevelTurn    Level = "turn"    // one gain a turn
	LevelClip    Level = "clip"    // one gain for the clip, voices keep their differences
	LevelNone    Level = "none"    // no gain, only the true-peak ceiling holds
)

// ComposeOptions are the rules of a composition: plain data that is part of a clip's
// content key and printed in reports.
type ComposeOptions struct {
	Version           int     `json:"version"`             // ComposeVersion
	Rate              int     `json:"rate"`                // samples per second of the clip
	GapSeconds        float64 `json:"gap_seconds"`         // digital silence between turns
	LeadSeconds       float64 `json:"lead_seconds"`        // digital silence before the first turn
	SilentTurnSeconds float64 `json:"silent_turn_seconds"` // what a wordless turn becomes
	Level             Level   `json:"level"`
	TargetLUFS        float64 `json:"target_lufs"`       // BS.1770 loudness of the clip
	MaxGainDB         float64 `json:"max_gain_db"`       // no gain beyond this, up or down
	TruePeakCeiling   float64 `json:"true_peak_ceiling"` // dBTP
	FadeMillis        float64 `json:"fade_ms"`           // at both edges of every turn
	TrimThresholdDB   float64 `json:"trim_threshold_db"` // edges below this, relative to the turn's peak, go
	TrimKeepMillis    float64 `json:"trim_keep_ms"`      // quiet kept around what is left
}

// DefaultComposeOptions is the paper's composition (joined in order, 0.2 s between turns,
// loudness normalised) with the settings the paper leaves open filled in.
func DefaultComposeOptions() ComposeOptions {
	return ComposeOptions{
		Version:           ComposeVersion,
		Rate:              24000,
		GapSeconds:        0.2,
		SilentTurnSeconds: 0.2,
		Level:             LevelSpeaker,
		TargetLUFS:        -23,
		MaxGainDB:         30,
		TruePeakCeiling:   -1,
		FadeMillis:        10,
		TrimThresholdDB:   -50,
		TrimKeepMillis:    10,
	}
}

// Validate returns every option that can't be used, each with its valid values, as one
// joined error; nil when all are fine.
func (o ComposeOptions) Validate() error {
	var errs []error
	if o.Version != ComposeVersion {
		errs = append(errs, fmt.Errorf("compose version is %d: this build composes version %d only", o.Version, ComposeVersion))
	}
	switch o.Level {
	case LevelSpeaker, LevelTurn, LevelClip, LevelNone:
	default:
		errs = append(errs, fmt.Errorf("compose level is %q: valid are speaker, turn, clip, none", o.Level))
	}
	within := func(name string, value, low, high float64, unit string) {
		if math.IsNaN(value) || value < low || value > high {
			errs = append(errs, fmt.Errorf("compose %s is %g: valid are %g to %g %s", name, value, low, high, unit))
		}
	}
	within("rate", float64(o.Rate), 8000, 96000, "Hz")
	within("gap_seconds", o.GapSeconds, 0, 10, "s")
	within("lead_seconds", o.LeadSeconds, 0, 10, "s")
	within("silent_turn_seconds", o.SilentTurnSeconds, 0, 10, "s")
	within("target_lufs", o.TargetLUFS, -60, -10, "LUFS")
	within("max_gain_db", o.MaxGainDB, 0, 60, "dB")
	within("true_peak_ceiling", o.TruePeakCeiling, -20, 0, "dBTP")
	within("fade_ms", o.FadeMillis, 0, 100, "ms")
	within("trim_threshold_db", o.TrimThresholdDB, -120, -20, "dB")
	within("trim_keep_ms", o.TrimKeepMillis, 0, 1000, "ms")
	return errors.Join(errs...)
}

// samples is a length in seconds as a whole number of samples of the clip.
func (o ComposeOptions) samples(seconds float64) int {
	return int(math.Round(seconds * float64(o.Rate)))
}
