package chat

import (
	"context"
	"fmt"
	"math"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/prompt"
)

// Lengths of the canary's clips, in seconds.
const (
	canaryShort = 2.0
	canaryLong  = 7.0
)

// llama-server's rule, as its answers show: 750 tokens for every started 30 s,
// and two that mark the clip.
const (
	llamaBlock        = 750
	llamaBlockSeconds = 30
	llamaMarkers      = 2
)

// hearing is the canary: silence and a tone have to make a difference. Repeating
// the silence says how much of a difference means nothing.
func (p *probe) hearing(ctx context.Context) error {
	var replies [5]reply
	for i, c := range []struct {
		what            string
		seconds, volume float64
	}{
		{"no audio", 0, 0}, {"silence", canaryShort, 0}, {"silence again", canaryShort, 0},
		{"a tone", canaryShort, 0.3}, {"a longer tone", canaryLong, 0.3},
	} {
		encoded, err := newClip(tone(c.seconds, c.volume))
		if err != nil {
			return err
		}
		messages := p.d.fill([]prompt.Message{
			{Role: prompt.System, Parts: []prompt.Part{{Text: "You answer briefly."}}},
			{Role: prompt.User, Parts: []prompt.Part{
				{Text: "Listen to this recording."}, {Clip: prompt.Target}, {Text: "What do you hear? Answer with one word."},
			}},
		}, encoded)
		r, accepted, err := p.ask(ctx, c.what, messages, question{sampling: plainSampling, maxTokens: 1, logprobs: true})
		if err != nil {
			return err
		}
		if !accepted {
			p.caps.Audio = Hearing{Why: "it refuses " + c.what}
			return nil
		}
		replies[i] = r
	}
	p.caps.Audio = judgeHearing(p.caps.Dialect, replies)
	return nil
}

// judgeHearing compares the answers to: no audio, silence, silence again, a tone,
// a longer tone.
func judgeHearing(dialect Dialect, r [5]reply) Hearing {
	none, silence, again, short, long := r[0], r[1], r[2], r[3], r[4]
	counts := none.promptTokens > 0 && short.promptTokens > 0
	if counts && short.promptTokens <= none.promptTokens {
		return Hearing{Why: fmt.Sprintf("%d prompt tokens with audio, %d without", short.promptTokens, none.promptTokens)}
	}
	probabilities := silence.hasFirst && short.hasFirst
	difference, noise := distance(silence.first, short.first), distance(silence.first, again.first)
	if probabilities && difference <= max(2*noise, 1e-6) {
		return Hearing{Why: fmt.Sprintf("silence and a tone get the same answer (difference %.2g, noise %.2g)", difference, noise)}
	}
	if !counts && !probabilities {
		return Hearing{Why: "it gives neither prompt tokens nor logprobs that could show it"}
	}
	h := Hearing{Works: true, Why: "silence and a tone differ in logprobs"}
	if !probabilities {
		h.Why = "a clip adds prompt tokens; no logprobs to compare"
	}
	if counts {
		h.countTokens(dialect, short.promptTokens-none.promptTokens, long.promptTokens-none.promptTokens)
	}
	return h
}

// countTokens finds what a clip costs from a short and a longer one.
func (h *Hearing) countTokens(dialect Dialect, short, long int) {
	switch {
	case long > short:
		h.PerSecond = float64(long-short) / (canaryLong - canaryShort)
		h.PerClip = max(short-int(math.Ceil(h.PerSecond*canaryShort))-1, 0)
	case dialect == Llama && abs(short-llamaBlock-llamaMarkers) <= joinTokens:
		h.PerBlock, h.BlockSeconds, h.PerClip = llamaBlock, llamaBlockSeconds, llamaMarkers
	}
}

// distance is half the summed difference of two distributions as far as they are
// known: 0 for the same answers, 1 for unrelated ones.
func distance(a, b distribution) float64 {
	sum := 0.0
	for token, p := range a.p {
		sum += math.Abs(p - b.p[token])
	}
	for token, p := range b.p {
		if _, both := a.p[token]; !both {
			sum += p
		}
	}
	return sum / 2
}

// tone is a sine of 440 Hz, or silence at volume 0.
func tone(seconds, volume float64) audio.PCM {
	samples := make([]float32, int(seconds*clipRate))
	for i := range samples {
		samples[i] = float32(volume * math.Sin(2*math.Pi*440*float64(i)/clipRate))
	}
	return audio.PCM{Rate: clipRate, Samples: samples}
}

func abs(n int) int { return max(n, -n) }
