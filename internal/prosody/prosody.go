// Package prosody measures how speech sounds, apart from its words: energy,
// pitch, pauses and pace of a clip.
package prosody

import "github.com/speechmanip/speechmanip/internal/audio"

// N is the number of features.
const N = 34

// Rate is the rate at which everything is measured, in Hz; other rates are
// converted first.
const Rate = 8_000

// frame and hop are the analysis frame and its step: 40 ms every 10 ms.
const (
	frame = Rate / 25
	hop   = Rate / 100
	step  = float64(hop) / Rate // seconds
)

// F0 returns the median pitch of the voiced frames in Hz, and the share of
// frames that are voiced, between 0 and 1. Without a voiced frame both are 0. In
// a clip of several speakers the median mixes their voices.
func F0(clip audio.PCM) (median, voiced float64) {
	return 0, 0
}

// Names returns the features' names in the order of Features, unit last.
func Names() [N]string { return [N]string{} }

// Features measures a clip. A feature without anything to measure is 0; every
// feature is finite.
func Features(clip audio.PCM) [N]float64 { return [N]float64{} }
