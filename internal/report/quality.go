package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
)

// Quality says how well the clips carry their text. Flagged clips are in all
// figures; WithoutFlagged is what the headline would be without them.
type Quality struct {
	Thresholds     evaluation.Quality `json:"thresholds"`
	Measured       int                `json:"measured"` // clips with a word error rate
	MedianWER      *float64           `json:"median_wer,omitempty"`
	Voices         []VoiceQuality     `json:"voices"`  // by name
	Flagged        []Flag             `json:"flagged"` // by id
	WithoutFlagged *score.Result      `json:"without_flagged,omitempty"`
}

// VoiceQuality is one voice over all clips that it speaks in.
type VoiceQuality struct {
	Voice     string   `json:"voice"`
	Clips     int      `json:"clips"`
	MedianWER *float64 `json:"median_wer,omitempty"` // of those clips, other voices included
	MedianF0  *float64 `json:"median_f0,omitempty"`  // Hz, over its turns
	Turns     int      `json:"turns"`                // with an F0
	Outliers  int      `json:"f0_outliers"`          // of those, too far from MedianF0
}

// Flag is a reason to listen to a clip.
type Flag struct {
	ID            string `json:"id"`
	CastingNumber int    `json:"casting_number,omitempty"`
	Reason        string `json:"reason"`
}

// voiceData gathers one voice's measurements.
type voiceData struct {
	clips          int
	rates, pitches []float64
}

// measureQuality compares every clip with the thresholds, and every turn's pitch
// with its voice's, and marks the dialogues.
func measureQuality(dialogues []Dialogue, thresholds evaluation.Quality) Quality {
	rates, voices := gather(dialogues)
	q := Quality{Thresholds: thresholds, Measured: len(rates), MedianWER: median(rates), Voices: []VoiceQuality{}, Flagged: []Flag{}}
	for _, name := range slices.Sorted(maps.Keys(voices)) {
		v := voices[name]
		q.Voices = append(q.Voices, VoiceQuality{
			Voice:     name,
			Clips:     v.clips,
			MedianWER: median(v.rates),
			MedianF0:  median(v.pitches),
			Turns:     len(v.pitches),
		})
	}
	for i := range dialogues {
		d := &dialogues[i]
		if d.Record.Quality == nil {
			continue
		}
		d.Flagged = q.flag(*d.Record.Quality)
		for _, reason := range d.Flagged {
			q.Flagged = append(q.Flagged, Flag{ID: d.ID, CastingNumber: d.CastingNumber, Reason: reason})
		}
	}
	return q
}

// gather returns all word error rates, and each voice's measurements.
func gather(dialogues []Dialogue) (rates []float64, voices map[string]*voiceData) {
	voices = map[string]*voiceData{}
	of := func(name string) *voiceData {
		if voices[name] == nil {
			voices[name] = &voiceData{}
		}
		return voices[name]
	}
	for _, d := range dialogues {
		quality := d.Record.Quality
		rated := quality != nil && quality.WERIsSet
		if rated {
			rates = append(rates, quality.WER)
		}
		for _, part := range d.Casting {
			v := of(part.Voice)
			v.clips++
			if rated {
				v.rates = append(v.rates, quality.WER)
			}
		}
		if quality == nil {
			continue
		}
		for _, turn := range quality.Turns {
			if turn.F0 > 0 {
				v := of(turn.Voice)
				v.pitches = append(v.pitches, turn.F0)
			}
		}
	}
	return rates, voices
}

// flag returns why a clip is flagged, and counts its turns among their voices'
// outliers.
func (q *Quality) flag(clip evaluation.ClipQuality) []string {
	var reasons []string
	if clip.WERIsSet && clip.WER > q.Thresholds.MaxWER {
		reasons = append(reasons, fmt.Sprintf("word error rate %.2f is above %.2f", clip.WER, q.Thresholds.MaxWER))
	}
	for _, turn := range clip.Turns {
		if turn.F0 <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(q.Voices, turn.Voice, func(v VoiceQuality, name string) int { return cmp.Compare(v.Voice, name) })
		voice := &q.Voices[at] // gather saw this turn too
		if off := 12 * math.Log2(turn.F0 / *voice.MedianF0); math.Abs(off) > q.Thresholds.MaxF0Semitones {
			voice.Outliers++
			reasons = append(reasons, fmt.Sprintf("turn %d: pitch %.0f Hz is %+.1f semitones from voice %s's median", turn.Turn, turn.F0, off, turn.Voice))
		}
	}
	return reasons
}

// median returns nil for no values.
func median(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := sorted[len(sorted)/2]
	if len(sorted)%2 == 0 {
		middle = (middle + sorted[len(sorted)/2-1]) / 2
	}
	return &middle
}
