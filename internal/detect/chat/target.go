package chat

import (
	"context"
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/prompt"
)

// target is an item as it is sent.
type target struct {
	id      string
	input   prompt.Input
	text    string
	clip    clip
	nothing string // why there is nothing to judge; "" where there is
}

// load reads what the modality allows of an item.
func (d *Detector) load(ctx context.Context, item detect.Item) (target, error) {
	t := target{id: item.ID, input: prompt.Input(item.Modality)}
	op := "read dialogue " + item.ID
	switch item.Modality {
	case detect.Text:
		for _, turn := range item.Turns {
			if strings.TrimSpace(turn.Text) != "" {
				t.text = prompt.Lines(item.Turns)
			}
		}
	case detect.ASR:
		if item.Transcript == nil {
			return target{}, fault.Permanentf(op, "no_transcript", "modality asr came without a transcript")
		}
		transcript, err := item.Transcript(ctx)
		if err != nil {
			return target{}, err
		}
		words := make([]string, len(transcript.Words))
		for i, w := range transcript.Words {
			words[i] = w.Text
		}
		t.text = strings.TrimSpace(strings.Join(words, " "))
	case detect.Audio:
		return d.loadAudio(ctx, item, t)
	default:
		return target{}, fault.Permanentf(op, "bad_modality", "unknown modality %q", item.Modality)
	}
	if t.text == "" {
		t.nothing = "the dialogue has no words"
	}
	return t, nil
}

// keptClips is how much of the clips that were sent last is kept, in bytes: every
// question about an item sends its clip, and encoding it takes longer than asking.
const keptClips = 32 << 20

// encoded returns the item's clip as it is sent.
func (d *Detector) encoded(ctx context.Context, item detect.Item, op string) (clip, error) {
	if c, ok := d.sent.Get(item.AudioHash); ok && item.AudioHash != "" {
		return c, nil
	}
	pcm, err := item.Audio(ctx)
	if err != nil {
		return clip{}, err
	}
	if seconds := pcm.Seconds(); seconds > d.config.MaxAudioSeconds {
		return clip{}, fault.Permanentf(op, "clip_too_long", "it is %.1f s long, the model hears at most %.0f s", seconds, d.config.MaxAudioSeconds)
	}
	c, err := newClip(pcm)
	if err != nil {
		return clip{}, fault.Permanentf(op, "bad_audio", "%w", err)
	}
	if item.AudioHash != "" {
		d.sent.Put(item.AudioHash, c, len(c.data), keptClips)
	}
	return c, nil
}

func (d *Detector) loadAudio(ctx context.Context, item detect.Item, t target) (target, error) {
	op := "read clip " + item.ID
	if item.Audio == nil {
		return target{}, fault.Permanentf(op, "no_audio", "modality audio came without a clip")
	}
	for i, c := range d.clips {
		if c.data == "" {
			return target{}, fault.Permanentf(op, "no_audio", "exemplar %s has no clip", d.exemplars[i].ID)
		}
	}
	var err error
	if t.clip, err = d.encoded(ctx, item, op); err != nil {
		return target{}, err
	}
	if t.clip.data == "" {
		t.nothing = fmt.Sprintf("the clip is shorter than %.1f s", minClipSeconds)
	}
	return t, nil
}
