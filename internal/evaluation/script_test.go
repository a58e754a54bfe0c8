package evaluation

import (
	"testing"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

func TestNewScript(t *testing.T) {
	pool := voice.Pool{Name: "p", Synthesizer: "s", Voices: []voice.Voice{{Slug: "v1", Params: map[string]string{"voice": "a"}}, {Slug: "v2", Params: map[string]string{"voice": "b"}}}}
	d := dialogue.Dialogue{ID: "7", Turns: []dialogue.Turn{
		{Speaker: "Person1", Text: "You *always* do this."}, {Speaker: "Person2", Text: "[sighs]"}, {Speaker: "Person2", Text: "No."}, {Speaker: "Person1", Text: "Yes."},
	}}
	engine := speech.Engine{Name: "s", Version: "1"}
	s, err := NewScript(Speech{Synthesizer: "s", Pool: pool, Seed: 3, Context: true}, engine, d, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Turns) != 4 || s.Turns[0].Say.Voice.Slug != s.Turns[3].Say.Voice.Slug || s.Turns[0].Say.Voice.Slug == s.Turns[2].Say.Voice.Slug {
		t.Fatalf("a speaker keeps a voice of their own: %+v", s.Turns)
	}
	for i, want := range []struct{ text, previous, next string }{
		{"You always do this.", "", "No."}, {"", "", ""}, {"No.", "You always do this.", "Yes."}, {"Yes.", "No.", ""},
	} {
		turn := s.Turns[i]
		if turn.Say.Text != want.text || turn.Say.Previous != want.previous || turn.Say.Next != want.next || turn.Say.Seed != 3 {
			t.Errorf("turn %d: %+v, want %+v", i, turn.Say, want)
		}
		key := ""
		if want.text != "" {
			key = TurnKey(engine, turn.Say)
		}
		if turn.Key != key || s.ClipTurns()[i] != (ClipTurn{Key: key, Speaker: string(d.Turns[i].Speaker)}) {
			t.Errorf("turn %d has key %q, in the clip %+v; want %q", i, turn.Key, s.ClipTurns()[i], key)
		}
	}
	pool.Voices = pool.Voices[:1]
	if _, err := NewScript(Speech{Pool: pool}, engine, d, 0); err == nil {
		t.Error("two speakers and one voice give no error")
	}
}
