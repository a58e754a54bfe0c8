package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// What is stored is found under the keys that evaluations use: one dialogue has its
// clip, one has one of its two turns, one has nothing.
func TestLookForAll(t *testing.T) {
	pool, err := voice.BuiltIn("flite")
	if err != nil {
		t.Fatal(err)
	}
	spec := evaluation.Spec{
		Speech:    evaluation.Speech{Synthesizer: "flite", Pool: pool},
		Compose:   audio.DefaultComposeOptions(),
		Rules:     vote.Paper(),
		Detection: evaluation.Detection{Modality: detect.Audio},
	}
	engine := speech.Engine{Name: "flite", Version: "2.2"}
	say := func(id string, texts ...string) dialogue.Dialogue {
		d := dialogue.Dialogue{ID: id}
		for _, text := range texts {
			d.Turns = append(d.Turns, dialogue.Turn{Speaker: "Person1", Text: text})
		}
		return d
	}
	dialogues := []dialogue.Dialogue{say("a", "12345", "...", "1234567"), say("b", "abc", "defg"), say("c", "nothing of this")}
	store := mem.New()
	put := func(key string, value any) {
		t.Helper()
		if _, err := objectstore.PutJSON(t.Context(), store, key, value, objectstore.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	script := func(d dialogue.Dialogue) evaluation.Script {
		t.Helper()
		s, err := evaluation.NewScript(spec.Speech, engine, d, 0)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	put(evaluation.TimelineKey(script(dialogues[0]).ClipTurns(), spec.Compose), audio.Timeline{Seconds: 3})
	put(script(dialogues[1]).Turns[1].Key, "audio")

	got, err := lookForAll(t.Context(), store, spec, engine, renditions(spec, dialogues))
	want := stored{Clips: 1, Turns: 3, Characters: 16, Seconds: 3, clipped: 12}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	rate, ok := got.rate()
	if !ok || rate.PerSecond != 4 {
		t.Errorf("rate %+v, %v; want 12 characters in 3 s", rate, ok)
	}
	// Of two castings the second is not spoken yet. One speaker takes another voice.
	twice := spec
	twice.Speech.Castings = 2
	got, err = lookForAll(t.Context(), store, twice, engine, renditions(twice, dialogues))
	if err != nil || got != want {
		t.Errorf("in two castings: %+v, %v; want %+v", got, err, want)
	}
	// Another version of the engine has made nothing yet.
	engine.Version = "2.3"
	got, err = lookForAll(t.Context(), store, spec, engine, renditions(spec, dialogues))
	if err != nil || got != (stored{}) {
		t.Errorf("another engine's audio counts: %+v, %v", got, err)
	}
	// A speaker more than voices is an error, not nothing.
	spec.Speech.Pool.Voices = nil
	if _, err := lookForAll(t.Context(), store, spec, engine, renditions(spec, dialogues)); err == nil {
		t.Error("a pool without voices gives no error")
	}
}

// What is stored is not paid again.
func TestCountWithStored(t *testing.T) {
	d := dialogue.Dialogue{ID: "a", Turns: []dialogue.Turn{{Speaker: "p", Text: "0123456789"}, {Speaker: "q", Text: "01234"}}}
	p := plan{dialogues: []dialogue.Dialogue{d, d}, spec: evaluation.Spec{
		Rules: vote.Paper(), Detection: evaluation.Detection{Modality: detect.Audio},
		Prices: evaluation.Prices{Currency: "USD", MilliCredits: 1000, Credit: 300, DetectorCall: 400},
	}}
	e := estimated{Rate: evaluation.Rate{PerSecond: 5}, Prices: p.spec.Prices, Stored: &stored{Turns: 3, Characters: 25}, Budget: evaluation.Budget{Calls: 19}}
	e.count(p, pace{speechCalls: 5, audioJobs: 2, detectCalls: 4, speechSeconds: 2, detectSeconds: 1, listening: 0.5})
	want := estimated{
		Castings: 1, Turns: 4, Characters: 30, AudioSeconds: 6, Credits: 5,
		Questions: evaluation.Questions{Prepare: 2, Decide: 10, Tactics: 2, Quote: 4},
		Speech:    evaluation.Cost{Calls: 1, Money: 1500},
		Judging:   evaluation.Cost{Calls: 18, Money: 7200},
		Total:     evaluation.Cost{Calls: 19, Money: 8700},
		Actions:   2 * 17, // no search attribute is upserted
		Stages: []stage{
			{Name: "speaking", Calls: 1, AtOnce: 5, Each: 2, Seconds: 2},
			{Name: "recognising", Calls: 2, AtOnce: 2, Each: 1.5, Seconds: 1.5},
			{Name: "judging", Calls: 18, AtOnce: 4, Each: 1, Seconds: 5},
		},
		WallSeconds: 5,
	}
	if diff := cmp.Diff(want, e, cmpopts.IgnoreFields(estimated{}, "Rate", "Prices", "Stored", "Budget")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e = estimated{Rate: e.Rate, Prices: e.Prices, Budget: evaluation.Budget{Calls: 19}}
	e.count(p, pace{speechCalls: 1, audioJobs: 1, detectCalls: 1})
	if !e.Exceeded || e.Total.Calls != 22 {
		t.Errorf("22 calls are more than 19: %+v", e.Total)
	}
	// Three castings take three times as much, and what shows in all is the same.
	p.spec.Speech.Castings = 3
	thrice := estimated{Rate: e.Rate, Prices: e.Prices}
	thrice.count(p, pace{speechCalls: 1, audioJobs: 1, detectCalls: 1})
	if thrice.Total.Calls != 3*e.Total.Calls || thrice.Characters != 3*e.Characters || thrice.AudioSeconds != 3*e.AudioSeconds || thrice.Total.Money != 3*e.Total.Money {
		t.Errorf("in three castings %+v, in one %+v", thrice.Total, e.Total)
	}
}

func TestPaceRefusesWhatMeansNothing(t *testing.T) {
	good := pace{speechCalls: 1, audioJobs: 1, detectCalls: 1}
	if err := good.validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*pace){
		"no calls": func(p *pace) { p.audioJobs = 0 }, "negative": func(p *pace) { p.speechSeconds = -1 }, "endless": func(p *pace) { p.listening = 3601 },
	} {
		bad := good
		change(&bad)
		var usage usageError
		if err := bad.validate(); !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage error", name, err)
		}
	}
}
