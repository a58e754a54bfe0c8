package audio

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// toneLevel is the level in dB of the sine of frequency hz in the middle of p.
func toneLevel(p PCM, hz float64) float64 {
	n := len(p.Samples) / 2
	middle := p.Samples[n/2 : n/2+n]
	var re, im, weight float64
	for i, v := range middle {
		w := kaiser(2*float64(i)/float64(n-1)-1, 14)
		angle := 2 * math.Pi * hz * float64(i) / float64(p.Rate)
		re += w * float64(v) * math.Cos(angle)
		im += w * float64(v) * math.Sin(angle)
		weight += w
	}
	return 20 * math.Log10(2*math.Hypot(re, im)/weight+1e-12)
}

var ratePairs = [][2]int{{8000, 24000}, {16000, 24000}, {22050, 24000}, {44100, 24000}, {48000, 24000}, {32000, 24000}, {24000, 16000}, {44100, 16000}}

func TestResamplePassesTheBand(t *testing.T) {
	for _, pair := range ratePairs {
		nyquist := float64(min(pair[0], pair[1])) / 2
		for _, part := range []float64{0.01, 0.3, 0.6, 0.9} {
			out := Resample(sine(pair[0], 1, part*nyquist, 0.5), pair[1])
			near(t, "level of a passed tone", toneLevel(out, part*nyquist), -6.02, 0.01)
		}
	}
}

// Downwards, a tone above the new Nyquist frequency must not fold back; upwards, a tone
// must not leave an image above the old one.
func TestResampleStopsTheRest(t *testing.T) {
	worst := math.Inf(-1)
	for _, pair := range ratePairs {
		from, to := float64(pair[0]), float64(pair[1])
		for _, part := range []float64{0.02, 0.1, 0.3, 0.5, 0.7, 0.89} {
			tone, ghost := part*from/2, from-part*from/2
			if to < from {
				tone = to/2 + part*(from-to)/2
				ghost = to - tone
				if ghost < 0 {
					ghost = -ghost
				}
			}
			if ghost >= to/2 {
				continue
			}
			level := toneLevel(Resample(sine(pair[0], 1, tone, 1), pair[1]), ghost)
			worst = max(worst, level)
			if level > -90 {
				t.Errorf("%d to %d: %g Hz leaves %.1f dB at %g Hz", pair[0], pair[1], tone, level, ghost)
			}
		}
	}
	t.Logf("worst alias or image %.1f dB", worst)
}

func TestResampleKeepsTimeAndLength(t *testing.T) {
	for _, pair := range ratePairs {
		in := PCM{Rate: pair[0], Samples: make([]float32, pair[0])}
		in.Samples[pair[0]/2] = 1
		out := Resample(in, pair[1])
		if out.Rate != pair[1] || len(out.Samples) != pair[1] {
			t.Errorf("%v: %d samples at %d, want one second", pair, len(out.Samples), out.Rate)
		}
		best := 0
		for i, v := range out.Samples {
			if v > out.Samples[best] {
				best = i
			}
		}
		near(t, "place of an impulse", float64(best)/float64(pair[1]), float64(pair[0]/2)/float64(pair[0]), 1/float64(pair[1]))
	}
}

func TestResampleEdges(t *testing.T) {
	if got := Resample(PCM{Rate: 16000}, 24000); len(got.Samples) != 0 || got.Rate != 24000 {
		t.Errorf("no samples became %d at %d", len(got.Samples), got.Rate)
	}
	for _, rate := range []int{1000, 44101, 383999} { // awkward ratios stay small and right
		out := Resample(sine(rate, 0.5, 200, 0.5), 24000)
		near(t, "length", float64(len(out.Samples)), 12000, 2)
		near(t, "level", toneLevel(out, 200), -6.02, 0.05)
	}
}

func TestRatio(t *testing.T) {
	for _, test := range [][4]int{
		{24000, 16000, 3, 2}, {24000, 44100, 80, 147}, {24000, 48000, 1, 2}, {16000, 16000, 1, 1}, {24000, 22050, 160, 147},
	} {
		if up, down := ratio(test[0], test[1], maxFilterBank); up != test[2] || down != test[3] {
			t.Errorf("ratio(%d, %d) = %d/%d, want %d/%d", test[0], test[1], up, down, test[2], test[3])
		}
	}
}

// Tones within both pass bands, resampled here and by sox, differ by rounding only.
func TestResampleAgainstSox(t *testing.T) {
	in := PCM{Rate: 16000, Samples: make([]float32, 32000)}
	for _, hz := range []float64{110, 517, 1900, 4203, 6800} {
		for i, v := range sine(16000, 2, hz, 0.15).Samples {
			in.Samples[i] += v
		}
	}
	fade(in.Samples, 1600)
	for _, rate := range []int{24000, 44100} {
		path := filepath.Join(t.TempDir(), "sox.wav")
		output(t, "sox", wavFile(t, in), "-b", "32", path, "rate", "-v", strconv.Itoa(rate))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		got := Resample(in, rate)
		var diff, power float64
		for i := range min(len(got.Samples), len(want.Samples)) {
			d := float64(got.Samples[i] - want.Samples[i])
			diff += d * d
			power += float64(want.Samples[i]) * float64(want.Samples[i])
		}
		db := 10 * math.Log10(diff/power)
		t.Logf("to %d Hz: difference %.1f dB", rate, db)
		if db > -75 {
			t.Errorf("to %d Hz: differs from sox by %.1f dB", rate, db)
		}
	}
}
