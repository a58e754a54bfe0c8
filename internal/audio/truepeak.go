package audio

// True peak after BS.1770 annex 2: the largest magnitude of the signal interpolated four
// times, by 12 coefficients for each of the three positions between two samples.
const (
	peakTaps  = 12
	peakHalf  = peakTaps / 2
	peakBlock = 32  // samples that are skipped together
	peakBeta  = 4.0 // level within 0.1 dB to 0.7 of the Nyquist frequency
)

type truePeak struct {
	filters [3][peakTaps]float32
	bound   float32   // no interpolated value exceeds bound times the largest sample near it
	recent  []float32 // the last peakTaps-1 samples, then those being looked at
	max     float32
}

func newTruePeak() *truePeak {
	t := &truePeak{recent: make([]float32, peakTaps-1, 4096)}
	for i := range t.filters {
		offset := float64(i+1) / 4
		var sum, magnitude float64
		var c [peakTaps]float64
		for k := range c {
			x := float64(k-peakHalf+1) - offset
			c[k] = sinc(x) * kaiser(x/peakHalf, peakBeta)
			sum += c[k]
		}
		for k := range c {
			t.filters[i][k] = float32(c[k] / sum)
			magnitude += max(c[k]/sum, -c[k]/sum)
		}
		t.bound = max(t.bound, float32(magnitude)*1.0001)
	}
	return t
}

// add takes the next samples.
func (t *truePeak) add(samples []float32) {
	const history = peakTaps - 1
	for len(samples) > 0 {
		part := samples[:min(len(samples), cap(t.recent)-history)]
		samples = samples[len(part):]
		t.recent = append(t.recent[:history], part...)
		t.scan(t.recent)
		copy(t.recent, t.recent[len(part):])
	}
}

// value is the largest magnitude so far, including the interpolation past the last sample.
func (t *truePeak) value() float64 {
	end := *t
	end.scan(append(append([]float32(nil), t.recent[:peakTaps-1]...), make([]float32, peakTaps-1)...))
	return float64(end.max)
}

// scan looks at every position of x that has peakTaps samples around it. Quiet blocks,
// which can't hold a new maximum, cost one comparison a sample.
func (t *truePeak) scan(x []float32) {
	for len(x) >= peakTaps {
		block := x[:min(len(x), peakBlock+peakTaps-1)]
		loudest := largest(block)
		t.max = max(t.max, loudest)
		if loudest*t.bound > t.max {
			for i := 0; i+peakTaps <= len(block); i++ {
				t.max = max(t.max, t.between(block[i:]))
			}
		}
		x = x[len(block)-(peakTaps-1):]
	}
}

// between is the largest magnitude at the three positions between the two samples in the
// middle of the first peakTaps of x.
func (t *truePeak) between(x []float32) float32 {
	w := (*[peakTaps]float32)(x)
	var peak float32
	for i := range t.filters {
		f := &t.filters[i]
		s := (f[0]*w[0] + f[1]*w[1] + f[2]*w[2] + f[3]*w[3]) +
			(f[4]*w[4] + f[5]*w[5] + f[6]*w[6] + f[7]*w[7]) +
			(f[8]*w[8] + f[9]*w[9] + f[10]*w[10] + f[11]*w[11])
		peak = max(peak, s, -s)
	}
	return peak
}

// largest is the largest magnitude in x.
func largest(x []float32) float32 {
	var low, high float32
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	return max(high, -low)
}
