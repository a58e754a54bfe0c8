package audio

import "math"

// Values that stand for "nothing", so that no level is ever infinite.
const (
	SilenceLUFS = -70.0  // the absolute gate of BS.1770
	SilenceDBTP = -120.0 // true peak of digital silence
)

// Loudness is the level of mono audio. It is always finite.
type Loudness struct {
	Integrated float64 // LUFS; SilenceLUFS when nothing is louder than the absolute gate
	TruePeak   float64 // dBTP; SilenceDBTP at least

	// Flag is empty where BS.1770 defines the loudness, FlagShort where the audio is too
	// short for one 400 ms block and was measured ungated as a whole, FlagSilent where no
	// block passes the absolute gate.
	Flag Flag
}

// Defined says whether Integrated is a gated loudness as BS.1770 defines it.
func (l Loudness) Defined() bool { return l.Flag == "" }

// Measure returns the loudness of p by ITU-R BS.1770-4. Mono counts as one channel, as in
// ffmpeg: a 1 kHz sine at full scale is -3 LUFS, and a stereo file with the same signal in
// both channels is 3 LU louder than its mono downmix.
func Measure(p PCM) Loudness {
	m := NewMeter(p.Rate)
	m.Add(p.Samples)
	return m.Loudness()
}

// Meter measures loudness of audio that comes in pieces. It keeps one number for each
// 100 ms and no audio.
type Meter struct {
	filter  kFilter
	axis    hops
	peak    *truePeak
	scratch [4096]float64
}

// NewMeter returns a meter for mono audio of the given rate, which must be positive.
func NewMeter(rate int) *Meter {
	return &Meter{filter: newKFilter(rate), axis: newHops(rate, 0), peak: newTruePeak()}
}

// Add takes the next samples.
func (m *Meter) Add(samples []float32) {
	m.peak.add(samples)
	for len(samples) > 0 {
		part := samples[:min(len(samples), len(m.scratch))]
		samples = samples[len(part):]
		m.filter.apply(m.scratch[:], part)
		m.axis.add(m.scratch[:len(part)])
	}
}

// Loudness returns the level of all samples so far; more may follow.
func (m *Meter) Loudness() Loudness {
	lufs, flag := gated(m.axis.energy, m.axis.size, m.axis.at)
	return Loudness{Integrated: lufs, TruePeak: decibels(m.peak.value(), SilenceDBTP), Flag: flag}
}

// hops collects the energy of K-weighted audio in 100 ms hops of one time axis: a turn's
// own, its speaker's, or the clip's. Energies of the same axis can be scaled and added,
// so that loudness under any gain follows from one measurement.
type hops struct {
	size   int       // samples a hop
	at     int       // where the next sample lies on the axis
	first  int       // hop of energy[0]
	energy []float64 // sums of squares
}

// newHops starts at sample start of an axis.
func newHops(rate, start int) hops {
	size := max(1, (rate+5)/10)
	return hops{size: size, at: start, first: start / size}
}

func (h *hops) add(weighted []float64) {
	for len(weighted) > 0 {
		n := min(len(weighted), h.size-h.at%h.size)
		i := h.at/h.size - h.first
		if i == len(h.energy) {
			h.energy = append(h.energy, 0)
		}
		h.energy[i] += sumSquares(weighted[:n])
		weighted = weighted[n:]
		h.at += n
	}
}

// mixInto adds the energies to those of a whole axis, scaled by the square of a gain.
func (h *hops) mixInto(axis []float64, gain float64) {
	for i, e := range h.energy {
		axis[h.first+i] += e * gain * gain
	}
}

func sumSquares(x []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 {
		s0 += x[0] * x[0]
		s1 += x[1] * x[1]
		s2 += x[2] * x[2]
		s3 += x[3] * x[3]
		x = x[4:]
	}
	for _, v := range x {
		s0 += v * v
	}
	return (s0 + s1) + (s2 + s3)
}

// gated is the integrated loudness of an axis of hops of size samples, samples in all:
// blocks of four hops, the absolute gate, then the relative one 10 LU below.
func gated(energy []float64, size, samples int) (float64, Flag) {
	complete := samples / size
	if complete < 4 {
		var sum float64
		for _, e := range energy {
			sum += e
		}
		if lufs := toLUFS(sum / float64(max(1, samples))); lufs > SilenceLUFS {
			return lufs, FlagShort
		}
		return SilenceLUFS, FlagSilent
	}
	mean := func(gate float64) (float64, int) {
		var sum float64
		n := 0
		for i := 0; i+4 <= complete; i++ {
			block := (energy[i] + energy[i+1] + energy[i+2] + energy[i+3]) / float64(4*size)
			if toLUFS(block) > gate {
				sum += block
				n++
			}
		}
		return sum / float64(max(1, n)), n
	}
	loud, n := mean(SilenceLUFS)
	if n == 0 {
		return SilenceLUFS, FlagSilent
	}
	loud, _ = mean(max(SilenceLUFS, toLUFS(loud)-10))
	return toLUFS(loud), ""
}

// toLUFS converts a K-weighted mean square; 0 gives minus infinity, below every gate.
func toLUFS(meanSquare float64) float64 { return -0.691 + 10*math.Log10(meanSquare) }

// decibels converts an amplitude, not below floor.
func decibels(amplitude, floor float64) float64 {
	if !(amplitude > 0) {
		return floor
	}
	return max(floor, 20*math.Log10(amplitude))
}

// amplitude converts decibels to a factor.
func amplitude(db float64) float64 { return math.Pow(10, db/20) }
