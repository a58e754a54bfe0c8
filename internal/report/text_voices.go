package report

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
)

// voiceEffects writes what the castings tell about voices.
func (t *text) voiceEffects(v *Voices) {
	if v == nil {
		return
	}
	if v.Confounded != "" {
		t.prose("Voices: %s", v.Confounded)
		t.line("")
		return
	}
	t.prose("Voices, within %d %s in %d castings each (exploratory: nothing here is corrected for how much is looked at, and dialogues share voices):",
		v.Dialogues, plural(v.Dialogues, "dialogue"), v.Castings)
	s := v.Steadiness
	t.prose("  verdict depends on the casting: %d of %d decided in all castings, rate %s (%s); %d not decided in all, with them %s to %s",
		s.Depends.Hits, s.Depends.N, word(s.Depends.Value), between(s.Depends.Low, s.Depends.High), s.Open, word(s.Lowest), word(s.Highest))
	t.prose("  flip rate, of the pairs of a dialogue's castings: %s (%s)", word(s.Flips), between(s.Low, s.High))
	t.line("")
	t.line("  Share of YES with the voice as first speaker, minus with it as second:")
	t.effects(v.Effects, func(e VoiceEffect) score.Within { return e.Role })
	t.line("  Share of YES in castings with the voice, minus in those without:")
	t.effects(v.Effects, func(e VoiceEffect) score.Within { return e.Presence })
}

// effects writes one comparison of all voices.
func (t *text) effects(effects []VoiceEffect, of func(VoiceEffect) score.Within) {
	rows := []string{"voice\tn\tdifference\t95% interval\tup:down\tsign test p\topen\tbounds"}
	for _, e := range effects {
		w := of(e)
		if !w.Lowest.Defined { // then nothing is
			rows = append(rows, fmt.Sprintf("%s\t%d\t%s", printable(e.Voice), w.N, t.figure(w.Difference)))
			continue
		}
		rows = append(rows, fmt.Sprintf("%s\t%d\t%s\t%s\t%d:%d\t%s\t%d\t%s", printable(e.Voice), w.N,
			t.figure(w.Difference), t.span(w.Low, w.High), w.More, w.Fewer, t.figure(w.P), w.Open, t.span(w.Lowest, w.Highest)))
	}
	t.table(rows...)
}

// span is a table's cell of two figures that are defined together.
func (t *text) span(low, high score.Figure) string {
	if !low.Defined {
		return t.figure(low)
	}
	return fmt.Sprintf("%.3f to %.3f", low.Value, high.Value)
}

// id is a dialogue's id and casting.
func id(id string, castingNumber int) string {
	return printable(id) + evaluation.CastingLabel(castingNumber)
}
