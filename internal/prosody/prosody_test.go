package prosody_test

import (
	"math"
	"testing"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/prosody"
)

// voice is a glottal-like pulse train: all harmonics below 3.5 kHz, falling.
func voice(rate int, hz, length, level float64) []float32 {
	samples := make([]float32, int(float64(rate)*length))
	for h := 1.0; h*hz < 3_500; h++ {
		for i := range samples {
			samples[i] += float32(level / h * math.Sin(2*math.Pi*hz*h*float64(i)/float64(rate)+h))
		}
	}
	return samples
}

func silence(rate int, length float64) []float32 { return make([]float32, int(float64(rate)*length)) }

func noise(rate int, length float64) []float32 {
	samples := make([]float32, int(float64(rate)*length))
	state := uint32(1)
	for i := range samples {
		state = state*1664525 + 1013904223
		samples[i] = float32(int32(state)) / (1 << 33)
	}
	return samples
}

func join(rate int, parts ...[]float32) audio.PCM {
	clip := audio.PCM{Rate: rate}
	for _, p := range parts {
		clip.Samples = append(clip.Samples, p...)
	}
	return clip
}

func TestF0OfVoices(t *testing.T) {
	for _, rate := range []int{8_000, 16_000, 24_000, 44_100} {
		for _, hz := range []float64{75, 110, 147.3, 190.5, 250, 320, 380} {
			got, voiced := prosody.F0(join(rate, silence(rate, .3), voice(rate, hz, 1, .2), silence(rate, .3)))
			if math.Abs(got-hz) > .01*hz {
				t.Errorf("%v Hz at rate %d: median %.1f Hz", hz, rate, got)
			}
			if voiced < .5 || voiced > .7 {
				t.Errorf("%v Hz at rate %d: voiced share %.2f, want about 1/1.6", hz, rate, voiced)
			}
		}
	}
}

func TestF0OfATone(t *testing.T) {
	samples := make([]float32, 16_000)
	for i := range samples {
		samples[i] = .5 * float32(math.Sin(2*math.Pi*200*float64(i)/16_000))
	}
	if got, _ := prosody.F0(audio.PCM{Rate: 16_000, Samples: samples}); math.Abs(got-200) > 1 {
		t.Errorf("median %.2f Hz, want 200", got)
	}
}

func TestF0IgnoresLevelAndOffset(t *testing.T) {
	for _, level := range []float64{.002, .02, .5} {
		samples := voice(16_000, 120, 1, level)
		for i := range samples {
			samples[i] += .1
		}
		if got, _ := prosody.F0(audio.PCM{Rate: 16_000, Samples: samples}); math.Abs(got-120) > 1.2 {
			t.Errorf("level %v: median %.2f Hz, want 120", level, got)
		}
	}
}

func TestNothingVoiced(t *testing.T) {
	nan := silence(16_000, .5)
	for i := range nan {
		nan[i] = float32(math.NaN())
	}
	for name, clip := range map[string]audio.PCM{
		"zero value":   {},
		"no samples":   {Rate: 16_000},
		"no rate":      {Samples: make([]float32, 100)},
		"one sample":   {Rate: 16_000, Samples: []float32{1}},
		"silence":      {Rate: 16_000, Samples: silence(16_000, 1)},
		"noise":        {Rate: 16_000, Samples: noise(16_000, 1)},
		"not a number": {Rate: 16_000, Samples: nan},
	} {
		if median, voiced := prosody.F0(clip); voiced > .05 || (voiced == 0) != (median == 0) {
			t.Errorf("%s: median %v Hz, voiced share %v", name, median, voiced)
		}
		for i, v := range prosody.Features(clip) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: %s = %v", name, prosody.Names()[i], v)
			}
		}
	}
}

func TestFeatures(t *testing.T) {
	const rate = 16_000
	clip := join(rate,
		silence(rate, .5),
		voice(rate, 100, .5, .1), silence(rate, .4), voice(rate, 200, .5, .1), silence(rate, .6), voice(rate, 200, .5, .1),
		silence(rate, .5))
	got := map[string]float64{}
	features := prosody.Features(clip)
	for i, name := range prosody.Names() {
		if _, twice := got[name]; twice || name == "" {
			t.Errorf("name %q is empty or used twice", name)
		}
		got[name] = features[i]
	}
	for name, want := range map[string][2]float64{ // value, tolerance
		"length_log_s":           {math.Log1p(3.5), .02},
		"speech_log_s":           {math.Log1p(1.5), .05},
		"pitch_median_st":        {12, .2},
		"pitch_p5_st":            {0, .2},
		"pitch_range_st":         {12, .3},
		"voiced_share":           {1.5 / 3.5, .04},
		"voiced_runs_per_s":      {3 / 3.5, .02},
		"voiced_run_mean_s":      {.5, .05},
		"pauses_per_s":           {2 / 3.5, .02},
		"pause_share":            {1 / 3.5, .03},
		"pause_mean_s":           {.5, .04},
		"pause_max_s":            {.6, .04},
		"syllables_per_s":        {3 / 3.5, .02},
		"syllables_per_speech_s": {2, .15},
	} {
		if math.Abs(got[name]-want[0]) > want[1] {
			t.Errorf("%s = %.3f, want %.3f within %.3f", name, got[name], want[0], want[1])
		}
	}
	louder := join(rate, clip.Samples)
	for i := range louder.Samples {
		louder.Samples[i] *= 2
	}
	if diff := prosody.Features(louder)[0] - features[0]; math.Abs(diff-6.02) > .01 {
		t.Errorf("twice the amplitude adds %.3f dB, want 6.02", diff)
	}
	if again := prosody.Features(clip); again != features {
		t.Error("the same clip, other features")
	}
}
