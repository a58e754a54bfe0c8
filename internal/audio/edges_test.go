package audio

import (
	"testing"
)

func TestTrim(t *testing.T) {
	silence := func(seconds float64) PCM {
		return PCM{Rate: 24000, Samples: make([]float32, int(24000*seconds))}
	}
	tone := sine(24000, 1, 500, 0.5)
	for _, test := range []struct {
		name string
		in   PCM
		want int // samples
	}{
		{"both edges", join(silence(1), tone, silence(2)), 24000 + 480},
		{"quiet noise at the edges", quiet(tone), 24000 + 480},
		{"nothing to trim", tone, 24000},
		{"a pause inside stays", join(tone, silence(1), tone), 72000},
		{"all silence stays", silence(1), 24000},
		{"no samples", silence(0), 0},
		{"soft but audible", join(silence(0.5), sine(24000, 1, 500, 0.004)), 24000 + 240},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Trim(test.in, -50, 10)
			near(t, "samples", float64(len(got.Samples)), float64(test.want), 0)
			if got.Rate != test.in.Rate {
				t.Errorf("rate %d", got.Rate)
			}
		})
	}
}

func TestFadeReachesBothEdges(t *testing.T) {
	for _, n := range []int{0, 1, 7, 480, 10000} {
		x := make([]float32, n)
		for i := range x {
			x[i] = 1
		}
		fade(x, 240)
		if n < 2 {
			continue
		}
		if x[0] > 0.2 || x[n-1] != x[0] {
			t.Errorf("%d samples: edges %g and %g", n, x[0], x[n-1])
		}
		if n > 480 && x[n/2] != 1 {
			t.Errorf("%d samples: middle %g", n, x[n/2])
		}
	}
}

func TestLimit(t *testing.T) {
	p := join(sine(24000, 0.5, 300, 0.4), sine(24000, 0.1, 300, 1.5), sine(24000, 0.5, 300, 0.4))
	untouched := join(p)
	limit(p.Samples, p.Rate, 0.8)
	if got := Measure(p).TruePeak; got > decibels(0.8, SilenceDBTP)+0.1 {
		t.Errorf("true peak %.2f dBTP above the ceiling of %.2f", got, decibels(0.8, SilenceDBTP))
	}
	for _, i := range []int{0, 6000, 11000, 15500, len(p.Samples) - 1} {
		if p.Samples[i] != untouched.Samples[i] {
			t.Errorf("sample %d, away from the peaks, changed", i)
		}
	}
}
