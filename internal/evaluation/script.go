package evaluation

import (
	"fmt"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// Script is how a dialogue is to be spoken. It follows from the spec, the engine and
// the dialogue, so that everybody who needs it works it out again.
type Script struct {
	Casting voice.Casting
	Turns   []ScriptTurn // as many as the dialogue has
}

// ScriptTurn is one turn of a script.
type ScriptTurn struct {
	Speaker dialogue.Speaker
	Say     speech.Request // its text may have no word: then it is not spoken
	Key     string         // of its audio; "" for a wordless turn
}

// Characters returns how many characters (code points) the turn sends to the
// synthesizer, 0 for a wordless one.
func (t ScriptTurn) Characters() int {
	if t.Key == "" {
		return 0
	}
	return utf8.RuneCountInString(t.Say.Text)
}

// NewScript casts a dialogue and derives its turns' keys; castingNumber is an
// Item's.
func NewScript(s Speech, engine speech.Engine, d dialogue.Dialogue, castingNumber int) (Script, error) {
	casting, err := voice.Cast(s.Pool, d.ID, d.Speakers(), s.CastingSeed, castingNumber)
	if err != nil {
		return Script{}, err
	}
	script := Script{Casting: casting}
	for _, turn := range d.Turns {
		slug, _ := casting.Voice(turn.Speaker)
		v, ok := s.Pool.Voice(slug)
		if !ok {
			return Script{}, fmt.Errorf("pool %q has no voice %q", s.Pool.Name, slug)
		}
		say := speech.Request{Text: speech.Normalize(turn.Text), Voice: v, Seed: s.Seed}
		script.Turns = append(script.Turns, ScriptTurn{Speaker: turn.Speaker, Say: say})
	}
	if s.Context {
		script.introduce()
	}
	for i := range script.Turns {
		if t := &script.Turns[i]; speech.HasWords(t.Say.Text) {
			t.Key = TurnKey(engine, t.Say)
		}
	}
	return script, nil
}

// introduce gives every spoken turn the texts of the spoken turns before and after
// it.
func (s Script) introduce() {
	last := -1
	for i, t := range s.Turns {
		if !speech.HasWords(t.Say.Text) {
			continue
		}
		if last >= 0 {
			s.Turns[i].Say.Previous = s.Turns[last].Say.Text
			s.Turns[last].Say.Next = t.Say.Text
		}
		last = i
	}
}

// ClipTurns returns the turns as they go into the clip's key.
func (s Script) ClipTurns() []ClipTurn {
	turns := make([]ClipTurn, len(s.Turns))
	for i, t := range s.Turns {
		turns[i] = ClipTurn{Key: t.Key, Speaker: string(t.Speaker)}
	}
	return turns
}
