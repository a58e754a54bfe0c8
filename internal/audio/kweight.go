package audio

import "math"

// kFilter is the K-weighting of BS.1770: a shelf for the head and a high-pass, each a
// biquad in transposed direct form II. The standard tabulates it at 48 kHz; the analogue
// prototype behind the table gives it at any rate.
type kFilter struct {
	shelf, high    biquad
	s1, s2, h1, h2 float64 // states
}

// biquad is normalised to a0 = 1.
type biquad struct{ b0, b1, b2, a1, a2 float64 }

func newKFilter(rate int) kFilter {
	var f kFilter

	k := math.Tan(math.Pi * 1681.974450955533 / float64(rate))
	q := 0.7071752369554196
	top := math.Pow(10, 3.999843853973347/20)
	mid := math.Pow(top, 0.4996667741545416)
	a0 := 1 + k/q + k*k
	f.shelf = biquad{
		b0: (top + mid*k/q + k*k) / a0,
		b1: 2 * (k*k - top) / a0,
		b2: (top - mid*k/q + k*k) / a0,
		a1: 2 * (k*k - 1) / a0,
		a2: (1 - k/q + k*k) / a0,
	}

	k = math.Tan(math.Pi * 38.13547087602444 / float64(rate))
	q = 0.5003270373238773
	a0 = 1 + k/q + k*k
	f.high = biquad{b0: 1, b1: -2, b2: 1, a1: 2 * (k*k - 1) / a0, a2: (1 - k/q + k*k) / a0}
	return f
}

// apply filters src into dst, which is at least as long, and keeps its state for more.
func (f *kFilter) apply(dst []float64, src []float32) {
	dst = dst[:len(src)]
	s, h := f.shelf, f.high
	s1, s2, h1, h2 := f.s1, f.s2, f.h1, f.h2
	for i, sample := range src {
		x := float64(sample)
		y := s.b0*x + s1
		s1 = s.b1*x - s.a1*y + s2
		s2 = s.b2*x - s.a2*y
		z := y + h1
		h1 = -2*y - h.a1*z + h2
		h2 = y - h.a2*z
		dst[i] = z
	}
	f.s1, f.s2, f.h1, f.h2 = settle(s1), settle(s2), settle(h1), settle(h2)
}

// settle ends a decay before it reaches denormal numbers, which are slow.
func settle(x float64) float64 {
	if math.Abs(x) < 1e-30 {
		return 0
	}
	return x
}
