package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Voices says what the voices do to the verdicts. It compares a dialogue with
// itself in other castings, never with other dialogues, as these differ in their
// text too. All of it is exploratory. It is of the unseen dialogues, those without
// truth too.
type Voices struct {
	Castings  int `json:"castings"`  // of every dialogue
	Dialogues int `json:"dialogues"` // with a record of every casting
	// Confounded says why nothing is told apart; "" where something is.
	Confounded string            `json:"confounded,omitempty"`
	Steadiness *score.Steadiness `json:"steadiness,omitempty"`
	Effects    []VoiceEffect     `json:"effects"` // by slug
}

// VoiceEffect is one voice's.
type VoiceEffect struct {
	Voice string `json:"voice"`
	// Role compares the castings in which it speaks for the dialogue's first speaker
	// with those in which it speaks for the second.
	Role score.Within `json:"first_against_second_speaker"`
	// Presence compares the castings in which it speaks with those in which it doesn't.
	Presence score.Within `json:"present_against_absent"`
}

// compareVoices returns nil where the castings aren't known.
func compareVoices(dialogues []Dialogue, castings int) *Voices {
	var together [][]Dialogue // the renditions of one dialogue stand beside each other
	cast := false
	for i, d := range dialogues {
		cast = cast || len(d.Casting) > 0
		switch {
		case d.Seen:
		case len(together) > 0 && dialogues[i-1].ID == d.ID:
			last := len(together) - 1
			together[last] = append(together[last], d)
		default:
			together = append(together, []Dialogue{d})
		}
	}
	together = slices.DeleteFunc(together, func(of []Dialogue) bool { return len(of) < castings })
	out := Voices{Castings: castings, Dialogues: len(together), Effects: []VoiceEffect{}}
	switch {
	case castings == 1 && !cast:
		return nil
	case castings == 1:
		out.Confounded = confounded
		return &out
	case len(together) == 0:
		out.Confounded = fmt.Sprintf("No dialogue has a record of all %d castings yet.", castings)
		return &out
	}
	verdicts := make([][]vote.Verdict, len(together))
	voices := map[string]bool{}
	for i, of := range together {
		verdicts[i] = verdictsOf(of, func(voice.Casting) bool { return true })
		for _, d := range of {
			for _, part := range d.Casting {
				voices[part.Voice] = true
			}
		}
	}
	steadiness := score.MeasureSteadiness(verdicts)
	out.Steadiness = &steadiness
	for _, name := range slices.Sorted(maps.Keys(voices)) {
		out.Effects = append(out.Effects, effectOf(name, together))
	}
	return &out
}

func effectOf(name string, together [][]Dialogue) VoiceEffect {
	speaks := func(as int) func(voice.Casting) bool {
		return func(c voice.Casting) bool { return as < len(c) && c[as].Voice == name }
	}
	present := func(c voice.Casting) bool {
		return slices.ContainsFunc(c, func(part voice.Part) bool { return part.Voice == name })
	}
	absent := func(c voice.Casting) bool { return len(c) > 0 && !present(c) }
	var role, presence []score.Contrast
	for _, of := range together {
		role = append(role, score.Contrast{First: verdictsOf(of, speaks(0)), Second: verdictsOf(of, speaks(1))})
		presence = append(presence, score.Contrast{First: verdictsOf(of, present), Second: verdictsOf(of, absent)})
	}
	return VoiceEffect{
		Voice:    name,
		Role:     score.CompareWithin(role, "no dialogue has the voice for both its first and its second speaker"),
		Presence: score.CompareWithin(presence, "no dialogue has castings with the voice and without it"),
	}
}

// verdictsOf are those on the renditions whose casting is meant. What failed is as
// open as UNRESOLVED is.
func verdictsOf(renditions []Dialogue, meant func(voice.Casting) bool) []vote.Verdict {
	var out []vote.Verdict
	for _, d := range renditions {
		if !meant(d.Casting) {
			continue
		}
		v := vote.Unresolved
		if d.Failure == nil {
			v = d.Verdict.Verdict
		}
		out = append(out, v)
	}
	return out
}
