package audio

import (
	"math"
	"os"
	"testing"
)

// The cases of EBU Tech 3341 table 1, in mono: a stereo sine of -23 dBFS in both channels
// is -23 LUFS, so the same sine in one channel is 3.01 LU less.
func TestMeasureEBUCases(t *testing.T) {
	const stereo = -3.0103
	tone := func(seconds, db float64) PCM { return sine(48000, seconds, 1000, amplitude(db)) }
	for _, test := range []struct {
		name string
		pcm  PCM
		want float64
	}{
		{"case 1", tone(20, -23), -23 + stereo},
		{"case 2", tone(20, -33), -33 + stereo},
		{"case 3: relative gate", join(tone(10, -36), tone(60, -23), tone(10, -36)), -23 + stereo},
		{"case 4: absolute gate", join(tone(10, -72), tone(10, -36), tone(60, -23), tone(10, -36), tone(10, -72)), -23 + stereo},
		{"case 5: gated mean", join(tone(20, -26), tone(20.1, -20), tone(20, -26)), -23 + stereo},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Measure(test.pcm)
			near(t, "loudness", got.Integrated, test.want, 0.1)
			if !got.Defined() {
				t.Errorf("flag %q on a defined loudness", got.Flag)
			}
		})
	}
}

func TestMeasureAtEveryRate(t *testing.T) {
	for _, rate := range []int{8000, 16000, 22050, 24000, 44100, 48000, 96000} {
		p := sine(rate, 3, 997, 1)
		fade(p.Samples, rate/100)
		got := Measure(p)
		near(t, "full-scale sine", got.Integrated, -3.01, 0.1)
		near(t, "its true peak", got.TruePeak, 0, 0.1)
	}
}

// A sine at a quarter of the rate with its samples 45 degrees off the crests: the samples
// reach -3 dB, the signal 0 dB.
func TestTruePeakBetweenSamples(t *testing.T) {
	p := PCM{Rate: 24000, Samples: make([]float32, 4800)}
	for i := range p.Samples {
		p.Samples[i] = float32(math.Sin(math.Pi/2*float64(i) + math.Pi/4))
	}
	fade(p.Samples, 480)
	near(t, "sample peak", decibels(float64(largest(p.Samples)), SilenceDBTP), -3.01, 0.01)
	near(t, "true peak", Measure(p).TruePeak, 0, 0.1)
}

func TestMeasureWhereUndefined(t *testing.T) {
	for _, test := range []struct {
		name       string
		pcm        PCM
		lufs, peak float64
		flag       Flag
	}{
		{"no samples", PCM{Rate: 24000}, SilenceLUFS, SilenceDBTP, FlagSilent},
		{"one sample", PCM{Rate: 24000, Samples: []float32{0.5}}, -3.3, -6, FlagShort},
		{"short tone", sine(24000, 0.3, 1000, 0.5), -9.0, -6, FlagShort},
		{"short silence", PCM{Rate: 24000, Samples: make([]float32, 2400)}, SilenceLUFS, SilenceDBTP, FlagSilent},
		{"digital silence", PCM{Rate: 24000, Samples: make([]float32, 48000)}, SilenceLUFS, SilenceDBTP, FlagSilent},
		{"below the gate", sine(24000, 2, 1000, 1e-4), SilenceLUFS, -80, FlagSilent},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Measure(test.pcm)
			if got.Flag != test.flag {
				t.Errorf("flag %q, want %q", got.Flag, test.flag)
			}
			near(t, "loudness", got.Integrated, test.lufs, 2)
			near(t, "true peak", got.TruePeak, test.peak, 1)
		})
	}
}

// A meter fed in odd pieces, and asked in between, reads what one call reads.
func TestMeterInPieces(t *testing.T) {
	p := syllables(24000, 3, 0.8, 1)
	want := Measure(p)
	m := NewMeter(p.Rate)
	for rest, n := p.Samples, 1; len(rest) > 0; n = n*7%5003 + 1 {
		n = min(n, len(rest))
		m.Add(rest[:n])
		m.Loudness()
		rest = rest[n:]
	}
	got := m.Loudness()
	near(t, "loudness", got.Integrated, want.Integrated, 1e-6)
	near(t, "true peak", got.TruePeak, want.TruePeak, 0)
}

func TestMeasureAgainstFFmpeg(t *testing.T) {
	tool(t, "ffmpeg")
	signals := map[string]PCM{
		"tone":          sine(24000, 5, 440, 0.3),
		"syllables":     syllables(24000, 10, 0.9, 2),
		"syllables 16k": syllables(16000, 10, 0.5, 3),
		"loud and soft": join(syllables(24000, 4, 0.9, 4), syllables(24000, 4, 0.1, 5), PCM{Samples: make([]float32, 24000)}, syllables(24000, 1, 0.4, 6)),
		"44.1 kHz":      syllables(44100, 6, 0.9, 7),
	}
	for name, p := range signals {
		t.Run(name, func(t *testing.T) { compareWithFFmpeg(t, wavFile(t, p)) })
	}
	t.Run("speech", func(t *testing.T) {
		compareWithFFmpeg(t, flite(t, "slt", "You never listen to me, do you? I told you a thousand times, and you walked away."))
	})
}

func compareWithFFmpeg(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	got := Measure(p)
	lufs, peak := ffmpegLevel(t, path)
	t.Logf("LUFS %.3f (ffmpeg %.3f), dBTP %.2f (ffmpeg %.2f)", got.Integrated, lufs, got.TruePeak, peak)
	near(t, "loudness", got.Integrated, lufs, 0.1)
	near(t, "true peak", got.TruePeak, peak, 0.3)
}
