package prosody

import (
	"iter"
	"math"
	"slices"

	"github.com/speechmanip/speechmanip/internal/audio"
)

// N is the number of features.
const N = 34

// minPause is the shortest silence within speech that counts, in frames.
const minPause = 20

// Names returns the features' names in the order of Features, unit last. Pitch
// in semitones counts from 100 Hz.
func Names() [N]string {
	return [N]string{
		"energy_mean_db", "energy_sd_db", "energy_p10_db", "energy_median_db", "energy_p90_db",
		"energy_range_db", "energy_change_db", "energy_slope_db_per_s",
		"pitch_mean_st", "pitch_sd_st", "pitch_p5_st", "pitch_p10_st", "pitch_median_st",
		"pitch_p90_st", "pitch_p95_st", "pitch_range_st", "pitch_change_st", "pitch_slope_st_per_s",
		"voiced_share", "voiced_runs_per_s", "voiced_run_mean_s", "voiced_run_sd_s",
		"pauses_per_s", "pause_share", "pause_mean_s", "pause_sd_s", "pause_median_s", "pause_max_s",
		"syllables_per_s", "syllables_per_speech_s", "length_log_s", "speech_log_s",
		"crossings_mean_per_s", "crossings_sd_per_s",
	}
}

// Features measures a clip. What a clip has nothing of is 0; every feature is
// finite.
func Features(clip audio.PCM) [N]float64 {
	t := analyse(clip)
	total := float64(len(t.energy)) * seconds
	var energy, cross, semitones []float64
	for i, speech := range t.speech {
		if speech {
			energy = append(energy, t.energy[i])
			cross = append(cross, t.cross[i])
		}
	}
	for _, f := range t.voiced() {
		semitones = append(semitones, 12*math.Log2(f/100))
	}
	spoken := float64(len(energy)) * seconds
	voiced := lengths(runs(len(t.pitch), func(i int) bool { return t.pitch[i] > 0 }))
	pauses := t.pauses()
	syllables := float64(t.syllables())
	return [N]float64{
		mean(energy), deviation(energy), quantile(energy, .1), quantile(energy, .5), quantile(energy, .9),
		quantile(energy, .9) - quantile(energy, .1), change(energy), slope(energy),
		mean(semitones), deviation(semitones), quantile(semitones, .05), quantile(semitones, .1), quantile(semitones, .5),
		quantile(semitones, .9), quantile(semitones, .95), quantile(semitones, .9) - quantile(semitones, .1), change(semitones), slope(semitones),
		ratio(float64(len(semitones)), float64(len(t.pitch))), ratio(float64(len(voiced)), total), mean(voiced), deviation(voiced),
		ratio(float64(len(pauses)), total), ratio(sum(pauses), total), mean(pauses), deviation(pauses), quantile(pauses, .5), quantile(pauses, 1),
		ratio(syllables, total), ratio(syllables, spoken), math.Log1p(total), math.Log1p(spoken),
		mean(cross), deviation(cross),
	}
}

// pauses returns the lengths of the silences between stretches of speech, in
// seconds; silence before and after all speech is none.
func (t track) pauses() []float64 {
	var found []float64
	for quiet := range runs(len(t.speech), func(i int) bool { return !t.speech[i] }) {
		if quiet.start > 0 && quiet.end < len(t.speech) && quiet.length() >= minPause {
			found = append(found, float64(quiet.length())*seconds)
		}
	}
	return found
}

// syllables counts the swells of energy in speech that rise at least 3 dB above
// the dip before them; one syllable is about one swell.
func (t track) syllables() int {
	const rise = 3
	count := 0
	low, high, rising := math.Inf(1), math.Inf(-1), false
	for i, e := range smooth(t.energy) {
		if !t.speech[i] {
			e = silentDB
		}
		if rising {
			if high = max(high, e); e < high-rise {
				rising, low = false, e
			}
			continue
		}
		if low = min(low, e); e > low+rise {
			rising, high = true, e
			count++
		}
	}
	return count
}

// smooth averages each value with its two neighbours on either side.
func smooth(values []float64) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		out[i] = mean(values[max(i-2, 0):min(i+3, len(values))])
	}
	return out
}

// span is a run of frames, end excluded.
type span struct{ start, end int }

func (s span) length() int { return s.end - s.start }

// runs yields the longest runs of frames that are in, in order.
func runs(n int, in func(int) bool) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := 0; i < n; {
			start := i
			for i < n && in(i) == in(start) {
				i++
			}
			if in(start) && !yield(span{start, i}) {
				return
			}
		}
	}
}

func lengths(spans iter.Seq[span]) []float64 {
	var found []float64
	for s := range spans {
		found = append(found, float64(s.length())*seconds)
	}
	return found
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

func mean(values []float64) float64 { return ratio(sum(values), float64(len(values))) }

func deviation(values []float64) float64 {
	m, squares := mean(values), 0.0
	for _, v := range values {
		squares += (v - m) * (v - m)
	}
	return math.Sqrt(ratio(squares, float64(len(values))))
}

// change is the mean step between neighbours, up or down.
func change(values []float64) float64 {
	total := 0.0
	for i := 1; i < len(values); i++ {
		total += math.Abs(values[i] - values[i-1])
	}
	return ratio(total, float64(len(values)-1))
}

// slope is the least-squares trend over frames, per second.
func slope(values []float64) float64 {
	middle, m := float64(len(values)-1)/2, mean(values)
	rise, run := 0.0, 0.0
	for i, v := range values {
		rise += (float64(i) - middle) * (v - m)
		run += (float64(i) - middle) * (float64(i) - middle)
	}
	return ratio(rise, run) / seconds
}

// quantile interpolates between the sorted values; of none it is 0.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
