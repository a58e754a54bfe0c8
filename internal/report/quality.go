package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
)

// Quality says how well the clips carry their text. Flagged clips are in all
// figures; WithoutFlagged is what those would be without them.
type Quality struct {
	Thresholds     evaluation.Quality `json:"thresholds"`
	Measured       int                `json:"measured"` // clips with a word error rate
	MedianWER      *float64           `json:"median_wer,omitempty"`
	Voices         []VoiceQuality     `json:"voices"`
	Flagged        []Flag             `json:"flagged"`
	WithoutFlagged *score.Result      `json:"without_flagged,omitempty"`
}

// VoiceQuality is one voice over all clips that it speaks in.
type VoiceQuality struct {
	Voice     string   `json:"voice"`
	Clips     int      `json:"clips"`
	MedianWER *float64 `json:"median_wer,omitempty"` // of those clips, other voices included
	MedianF0  *float64 `json:"median_f0,omitempty"`  // Hz, over its turns
	Turns     int      `json:"turns"`                // with an F0
}

// Flag is a reason to listen to a clip.
type Flag struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// measureQuality compares every clip with the thresholds, and every turn's pitch
// with its voice's, and marks the dialogues.
func measureQuality(dialogues []Dialogue, thresholds evaluation.Quality) Quality {
	q := Quality{Thresholds: thresholds, Voices: []VoiceQuality{}, Flagged: []Flag{}}
	var rates []float64
	ratesOf, pitchesOf, clipsOf := map[string][]float64{}, map[string][]float64{}, map[string]int{}
	for _, d := range dialogues {
		for _, part := range d.Casting {
			clipsOf[part.Voice]++
		}
		if d.Record.Quality == nil {
			continue
		}
		if d.Record.Quality.WERIsSet {
			rates = append(rates, d.Record.Quality.WER)
			for _, part := range d.Casting {
				ratesOf[part.Voice] = append(ratesOf[part.Voice], d.Record.Quality.WER)
			}
		}
		for _, turn := range d.Record.Quality.Turns {
			pitchesOf[turn.Voice] = append(pitchesOf[turn.Voice], turn.F0)
		}
	}
	q.Measured, q.MedianWER = len(rates), median(rates)
	for _, voice := range sortedKeys(clipsOf) {
		q.Voices = append(q.Voices, VoiceQuality{
			Voice:     voice,
			Clips:     clipsOf[voice],
			MedianWER: median(ratesOf[voice]),
			MedianF0:  median(pitchesOf[voice]),
			Turns:     len(pitchesOf[voice]),
		})
	}
	for i := range dialogues {
		d := &dialogues[i]
		d.Flagged = flags(d.Record.Quality, thresholds, pitchesOf)
		for _, reason := range d.Flagged {
			q.Flagged = append(q.Flagged, Flag{ID: d.ID, Reason: reason})
		}
	}
	return q
}

func flags(clip *evaluation.ClipQuality, thresholds evaluation.Quality, pitchesOf map[string][]float64) []string {
	if clip == nil {
		return nil
	}
	var reasons []string
	if clip.WERIsSet && clip.WER > thresholds.MaxWER {
		reasons = append(reasons, fmt.Sprintf("word error rate %.2f is above %.2f", clip.WER, thresholds.MaxWER))
	}
	for _, turn := range clip.Turns {
		usual := median(pitchesOf[turn.Voice])
		if usual == nil || *usual <= 0 || turn.F0 <= 0 {
			continue
		}
		if off := 12 * math.Log2(turn.F0 / *usual); math.Abs(off) > thresholds.MaxF0Semitones {
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

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
