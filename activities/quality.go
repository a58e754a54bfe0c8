package activities

import (
	"context"
	"errors"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/prosody"
	"github.com/speechmanip/speechmanip/internal/recognize"
)

// minVoiced is the part of a turn that must be voiced for its F0 to mean
// anything.
const minVoiced = 0.15

// MeasureClip makes sure that a clip's measurements against its text are
// stored: the recogniser's word errors and every turn's pitch.
func (c *Clips) MeasureClip(ctx context.Context, task ClipTask) (StoredResult, error) {
	defer beating(ctx)()
	result, err := c.measure(ctx, task)
	return result, toTemporal(err)
}

func (c *Clips) measure(ctx context.Context, task ClipTask) (StoredResult, error) {
	job, err := c.Library.Open(ctx, task.Task)
	if err != nil {
		return StoredResult{}, err
	}
	store := c.Library.Archive.Store
	key := evaluation.QualityKey(task.Transcript.Key, task.Clip.SHA256, job.Dialogue.TextHash())
	if ref, err := store.Stat(ctx, key); !errors.Is(err, objectstore.ErrNotFound) {
		return StoredResult{Ref: ref}, err
	}
	transcript, err := objectstore.GetJSON[recognize.Transcript](ctx, store, task.Transcript)
	if err != nil {
		return StoredResult{}, err
	}
	quality := wordErrors(job.Dialogue, transcript)
	if !task.Timeline.IsZero() {
		timeline, err := objectstore.GetJSON[audio.Timeline](ctx, store, task.Timeline)
		if err != nil {
			return StoredResult{}, err
		}
		clip, err := readClip(ctx, store, task.Clip)
		if err != nil {
			return StoredResult{}, err
		}
		quality.Turns = pitches(clip, timeline)
	}
	ref, err := objectstore.PutJSON(ctx, store, key, quality, objectstore.PutOptions{})
	return StoredResult{Ref: ref, Made: true}, err
}

func wordErrors(d dialogue.Dialogue, transcript recognize.Transcript) evaluation.ClipQuality {
	var reference, heard []string
	for _, t := range d.Turns {
		reference = append(reference, dialogue.Words(t.Text)...)
	}
	for _, w := range transcript.Words {
		heard = append(heard, dialogue.Words(w.Text)...)
	}
	rate := recognize.WER(reference, heard)
	quality := evaluation.ClipQuality{Reference: len(reference)}
	quality.WER, quality.WERIsSet = rate.Rate, rate.Defined
	return quality
}

// pitches measures the turns of a composed clip one by one.
func pitches(clip audio.PCM, timeline audio.Timeline) []evaluation.TurnPitch {
	var turns []evaluation.TurnPitch
	for _, span := range timeline.Turns {
		if span.StartSample < 0 || span.EndSample > len(clip.Samples) || span.StartSample >= span.EndSample {
			continue
		}
		f0, voiced := prosody.F0(audio.PCM{Rate: clip.Rate, Samples: clip.Samples[span.StartSample:span.EndSample]})
		if voiced >= minVoiced && f0 > 0 {
			turns = append(turns, evaluation.TurnPitch{Turn: span.Turn, Voice: span.Voice, F0: f0})
		}
	}
	return turns
}
