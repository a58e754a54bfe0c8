package audio

import "math"

// The resampling filter: flat to 0.9 of the lower of both Nyquist frequencies, nothing
// from that Nyquist frequency on.
const (
	passEdge      = 0.9
	stopBandDB    = 96
	maxFilterBank = 1024 // most phases; rates with a more awkward ratio get the nearest one
)

// Resample converts p to another rate through a windowed-sinc filter without shifting it
// in time. The result has ceil(len*rate/p.Rate) samples; at equal rates it shares them
// with p. Neither rate may be 0.
func Resample(p PCM, rate int) PCM {
	if p.Rate == rate {
		return p
	}
	return newResampler(p.Rate, rate).apply(p)
}

// resampler is a polyphase filter bank: output sample n lies at input time n*down/up, and
// phase n*down%up of the bank interpolates there.
type resampler struct {
	from, to int
	up, down int
	half     int         // input samples on each side of an output sample
	bank     [][]float32 // up filters of 2*half coefficients
}

func newResampler(from, to int) *resampler {
	r := &resampler{from: from, to: to}
	r.up, r.down = ratio(to, from, maxFilterBank)
	narrow := min(1, float64(to)/float64(from))
	cutoff := narrow * (1 + passEdge) / 4 // middle of the transition, in cycles an input sample
	transition := narrow * (1 - passEdge) / 2
	taps := (stopBandDB - 7.95) / (2.285 * 2 * math.Pi * transition) // Kaiser's estimate
	r.half = (int(math.Ceil(taps/2)) + 3) / 4 * 4                    // dot takes eight at once
	beta := 0.1102 * (stopBandDB - 8.7)

	r.bank = make([][]float32, r.up)
	coefficients := make([]float64, 2*r.half)
	for phase := range r.bank {
		var sum float64
		for k := range coefficients {
			t := float64(k-r.half+1) - float64(phase)/float64(r.up)
			coefficients[k] = sinc(2*cutoff*t) * kaiser(t/float64(r.half), beta)
			sum += coefficients[k]
		}
		filter := make([]float32, len(coefficients))
		for k, c := range coefficients {
			filter[k] = float32(c / sum) // every phase passes a constant unchanged
		}
		r.bank[phase] = filter
	}
	return r
}

// apply resamples all of p, with silence before and after it.
func (r *resampler) apply(p PCM) PCM {
	padded := make([]float32, len(p.Samples)+2*r.half)
	copy(padded[r.half-1:], p.Samples)
	n := (len(p.Samples)*r.up + r.down - 1) / r.down
	out := make([]float32, n)
	at, phase := 0, 0
	for i := range out {
		out[i] = dot(r.bank[phase], padded[at:])
		for phase += r.down; phase >= r.up; phase -= r.up {
			at++
		}
	}
	return PCM{Rate: r.to, Samples: out}
}

// dot is the scalar product of a, whose length is a multiple of eight, and the start of b.
// Eight sums that don't wait for each other make it several times faster than one.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		s4 += a[4] * b[4]
		s5 += a[5] * b[5]
		s6 += a[6] * b[6]
		s7 += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// ratio reduces up/down; when the reduced up exceeds limit it returns the best convergent
// of the continued fraction below the limit (for real rates off by under a millionth).
func ratio(up, down, limit int) (int, int) {
	p0, q0, p1, q1 := 0, 1, 1, 0
	for a, b := up, down; b != 0; a, b = b, a%b {
		p2, q2 := a/b*p1+p0, a/b*q1+q0
		if p2 > limit {
			break
		}
		p0, q0, p1, q1 = p1, q1, p2, q2
	}
	return max(p1, 1), max(q1, 1)
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser is the Kaiser window at x in [-1, 1], 0 outside.
func kaiser(x, beta float64) float64 {
	if x < -1 || x > 1 {
		return 0
	}
	return bessel0(beta*math.Sqrt(1-x*x)) / bessel0(beta)
}

// bessel0 is the modified Bessel function of the first kind and order 0.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-17; k++ {
		term *= x * x / (4 * k * k)
		sum += term
	}
	return sum
}
