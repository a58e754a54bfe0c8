package audio

import "slices"

// peakMargin is kept below the ceiling for what interpolating four times doesn't see close
// to the Nyquist frequency: with noise driven hard into the limiter, 0.2 dB.
const peakMargin = 0.3 // dB

// part is one turn of a clip in the making: its place, its measurements and its gain, but
// not its samples.
type part struct {
	span         TurnSpan
	audible      bool       // has audio; false for a wordless turn
	speakerStart int        // where it lies when its speaker's turns are put end to end
	levels       [axes]hops // energies as measured
	peak         float64    // true peak as measured, an amplitude
	gain         float64    // dB
	scale        float64    // the factor from what was measured to what is in the clip
}

// axis is a way to lay turns out in time for a measurement. Gating looks at blocks of
// 400 ms, so the same audio has other blocks on another axis.
type axis int

const (
	onTurn    axis = iota // the turn alone
	onSpeaker             // the turns of one speaker end to end
	onClip                // as in the clip, with the gaps
	axes
)

type speaker struct {
	name    string
	parts   []*part
	samples int // of all its turns
}

func (s *speaker) meanGain() float64 {
	var sum float64
	for _, p := range s.parts {
		sum += p.gain
	}
	return sum / float64(len(s.parts))
}

func (p *part) samples() int { return p.span.EndSample - p.span.StartSample }

func (p *part) flag(f Flag) {
	if !slices.Contains(p.span.Flags, f) {
		p.span.Flags = append(p.span.Flags, f)
	}
}

// measure fills levels and peak; the audio is filtered once for all axes.
func (p *part) measure(pcm PCM) {
	for on, start := range [axes]int{0, p.speakerStart, p.span.StartSample} {
		p.levels[on] = newHops(pcm.Rate, start)
	}
	filter := newKFilter(pcm.Rate)
	var weighted [4096]float64
	for rest := pcm.Samples; len(rest) > 0; {
		block := rest[:min(len(rest), len(weighted))]
		rest = rest[len(block):]
		filter.apply(weighted[:], block)
		for on := range p.levels {
			p.levels[on].add(weighted[:len(block)])
		}
	}
	peak := newTruePeak()
	peak.add(pcm.Samples)
	p.peak = peak.value()
}

// apply brings samples to the part's gain and under the ceiling, an amplitude.
func (p *part) apply(samples []float32, rate int, ceiling float64) {
	for i := range samples {
		samples[i] *= float32(p.scale)
	}
	if p.peak*p.scale <= ceiling {
		return
	}
	p.flag(FlagPeakLimited)
	limit(samples, rate, ceiling)
	p.measure(PCM{Rate: rate, Samples: samples})
	p.scale = 1
}

// loudnessOf is the loudness of parts on one of their axes, which is samples long.
func loudnessOf(parts []*part, on axis, samples, rate int) (float64, Flag) {
	whole := newHops(rate, 0)
	energy := make([]float64, samples/whole.size+1)
	for _, p := range parts {
		p.levels[on].mixInto(energy, p.scale)
	}
	return gated(energy, whole.size, samples)
}

// peakOf is the true peak of the loudest of parts in dBTP.
func peakOf(parts []*part) float64 {
	var peak float64
	for _, p := range parts {
		peak = max(peak, p.peak*p.scale)
	}
	return decibels(peak, SilenceDBTP)
}
