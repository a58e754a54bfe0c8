// Package prosody measures how speech sounds, apart from its words: energy,
// pitch, pauses and pace of a clip.
package prosody

import (
	"math"
	"slices"

	"github.com/speechmanip/speechmanip/internal/audio"
)

// Rate is the rate at which everything is measured, in Hz; other rates are
// converted first.
const Rate = 8_000

// hop is the step between analysis frames: 10 ms.
const (
	hop     = Rate / 100
	seconds = float64(hop) / Rate // of a hop
)

// The gate: a frame is speech when it is at most rangeDB below the clip's loud
// frames, and above floorDB of full scale in any case.
const (
	rangeDB  = 35
	floorDB  = -65
	silentDB = -100 // stands for digital silence
)

// track is a clip by frames.
type track struct {
	energy []float64 // dB of full scale
	speech []bool    // above the gate
	pitch  []float64 // Hz; 0 where unvoiced
	cross  []float64 // zero crossings a second
}

// F0 returns the median pitch of the voiced frames in Hz, and the share of all
// frames that are voiced, between 0 and 1. Without a voiced frame both are 0. In
// a clip of several speakers the median mixes their voices: measure each turn
// instead.
func F0(clip audio.PCM) (median, voiced float64) {
	t := analyse(clip)
	pitches := t.voiced()
	return quantile(pitches, 0.5), ratio(float64(len(pitches)), float64(len(t.pitch)))
}

// analyse measures each frame. A clip without rate or samples has no frames.
func analyse(clip audio.PCM) track {
	if clip.Rate <= 0 || len(clip.Samples) == 0 {
		return track{}
	}
	samples := centred(audio.Resample(clip, Rate).Samples)
	var t track
	for start := 0; start+hop <= len(samples); start += hop {
		frame := samples[start:min(start+3*hop, len(samples))]
		sum, crossings := 0.0, 0
		for i, x := range frame {
			sum += x * x
			if i > 0 && (x < 0) != (frame[i-1] < 0) {
				crossings++
			}
		}
		t.energy = append(t.energy, max(10*math.Log10(sum/float64(len(frame))), silentDB))
		t.cross = append(t.cross, float64(crossings)*Rate/float64(len(frame)))
	}
	gate := max(quantile(t.energy, 0.95)-rangeDB, floorDB)
	for i, e := range t.energy {
		t.speech = append(t.speech, e > gate)
		pitch := 0.0
		if e > gate {
			pitch = period(samples[i*hop:])
		}
		t.pitch = append(t.pitch, pitch)
	}
	dropShort(t.pitch)
	return t
}

// centred returns samples without their mean; what is no number is silence.
func centred(samples []float32) []float64 {
	out := make([]float64, len(samples))
	mean := 0.0
	for i, s := range samples {
		if x := float64(s); !math.IsNaN(x) && !math.IsInf(x, 0) {
			out[i] = x
			mean += x / float64(len(samples))
		}
	}
	for i := range out {
		out[i] -= mean
	}
	return out
}

// The pitch search: 60 to 400 Hz over a window of 30 ms. A frame is voiced when
// it resembles itself one period later by voicedAt; the shortest period that is
// nearly as good as the best is taken, or a multiple of it would win by chance.
const (
	minLag   = Rate / 400
	maxLag   = Rate / 60
	window   = 3 * hop
	voicedAt = 0.6
	nearBest = 0.9
)

// period returns the pitch in Hz at the start of samples, 0 when unvoiced.
func period(samples []float64) float64 {
	if len(samples) < window+maxLag+1 {
		return 0
	}
	var likeness [maxLag + 2]float64 // normalised cross-correlation at each lag
	first := samples[:window]
	own := dot(first, first)
	best := 0.0
	for lag := minLag - 1; lag <= maxLag+1; lag++ {
		second := samples[lag:][:window]
		likeness[lag] = ratio(dot(first, second), math.Sqrt(own*dot(second, second)))
		if lag >= minLag && lag <= maxLag {
			best = max(best, likeness[lag])
		}
	}
	if best < voicedAt {
		return 0
	}
	for lag := minLag; lag <= maxLag; lag++ {
		before, here, after := likeness[lag-1], likeness[lag], likeness[lag+1]
		if here >= nearBest*best && here >= before && here > after {
			// The top of the parabola through the three lies between the lags.
			shift := ratio(before-after, 2*(before-2*here+after))
			return Rate / (float64(lag) + shift)
		}
	}
	return 0
}

// dropShort unvoices runs of fewer than three frames: no voice is that short.
func dropShort(pitch []float64) {
	for run := range runs(len(pitch), func(i int) bool { return pitch[i] > 0 }) {
		if run.length() < 3 {
			clear(pitch[run.start:run.end])
		}
	}
}

func (t track) voiced() []float64 {
	return slices.DeleteFunc(slices.Clone(t.pitch), func(f float64) bool { return f == 0 })
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
