// Package audio turns encoded turn audio into one levelled clip: it decodes WAV, MP3 and
// FLAC, resamples, measures loudness (ITU-R BS.1770), trims, joins and encodes.
//
// Everything here is a function of its input: no clock, no randomness, no network. The
// only file touched is the unnamed spool of Compose.
package audio

import "time"

// PCM is mono audio together with its rate, so that samples can't be read at the wrong
// speed. Samples are nominally within [-1, 1]; values beyond are allowed until encoding.
type PCM struct {
	Rate    int // samples per second
	Samples []float32
}

// Seconds is the length of the audio; 0 when the rate is unknown.
func (p PCM) Seconds() float64 {
	if p.Rate <= 0 {
		return 0
	}
	return float64(len(p.Samples)) / float64(p.Rate)
}

// Duration is Seconds as a time.Duration.
func (p PCM) Duration() time.Duration {
	return time.Duration(p.Seconds() * float64(time.Second))
}
