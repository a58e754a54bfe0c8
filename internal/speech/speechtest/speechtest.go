// Package speechtest is the conformance suite of speech.Synthesizer: every
// adapter runs it.
package speechtest

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// Subject is an adapter under test.
type Subject struct {
	New   func() speech.Synthesizer // a fresh one that shares nothing with others
	Pool  voice.Pool                // its voices, all there
	Wrong []voice.Voice             // voices that don't exist or whose params are wrong
}

// Turns are texts that engines have stumbled over, as they stand in datasets.
var Turns = map[string]string{
	"plain":            "I told you this would happen.",
	"one word":         "No.",
	"one letter":       "I",
	"digits":           "42",
	"long number":      "999999999999999999999999",
	"typographic":      "“You’re—naïve,” she said… ‘café’.",
	"markup":           "<b>Jack</b> &amp; Jones < you > me",
	"stage direction":  "[sighs] *laughs* I _know_ -- it (pause) hurts",
	"shouted":          "GET OUT OF MY HOUSE!!! NOOOOOO!",
	"interjection":     "Hmmm. Shhh!",
	"option":           "--help",
	"hyphen":           "-o /tmp/out.wav",
	"response file":    "@turn",
	"file name":        "turn.txt",
	"absolute path":    "/etc/passwd",
	"shell expansion":  "$(touch owned) `touch owned` ; touch owned | cat && echo $HOME",
	"format":           "%s %n %d",
	"quotes":           `"'"` + "it's",
	"lines":            "One.\nTwo.\r\n\nThree.",
	"600 characters":   strings.Repeat("You never listen to what I say to you. ", 16)[:600],
	"long word":        strings.Repeat("antidisestablish", 16),
	"broken UTF-8":     "don\x92t \xff go",
	"controls":         "stop\x00 it\x1b[31m now",
	"other characters": "日本 yes Привет 😀",
}

// Run runs the suite.
func Run(t *testing.T, subject Subject) {
	ctx := context.Background()
	speak := func(t *testing.T, s speech.Synthesizer, text string, v voice.Voice) speech.Speech {
		t.Helper()
		got, err := s.Synthesize(ctx, speech.Request{Text: text, Voice: v, Seed: 1})
		if err != nil {
			t.Fatalf("speak %.60q in voice %s: %v", text, v.Slug, err)
		}
		if len(got.Audio) == 0 {
			t.Fatalf("speak %.60q in voice %s: no audio", text, v.Slug)
		}
		return got
	}
	first := subject.Pool.Voices[0]
	const sentence = "I told you this would happen."

	t.Run("engine", func(t *testing.T) {
		s := subject.New()
		engine, err := s.Engine(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if engine.Name != subject.Pool.Synthesizer || engine.Version == "" || engine.Format == "" {
			t.Errorf("engine %+v has no name of its pool, version or format", engine)
		}
		for _, other := range []speech.Synthesizer{s, subject.New()} {
			again, err := other.Engine(ctx)
			if diff := cmp.Diff(engine, again); err != nil || diff != "" {
				t.Errorf("asked again: %v %s", err, diff)
			}
		}
	})

	t.Run("pool", func(t *testing.T) {
		s := subject.New()
		if err := s.Check(ctx, subject.Pool); err != nil {
			t.Errorf("its own pool: %v", err)
		}
		foreign := subject.Pool
		foreign.Synthesizer = "another"
		wantPermanent(t, "another synthesizer's pool", s.Check(ctx, foreign), "another")
		wantPermanent(t, "a pool without voices", s.Check(ctx, voice.Pool{Name: "p", Synthesizer: subject.Pool.Synthesizer}))
	})

	t.Run("wrong voices", func(t *testing.T) {
		if len(subject.Wrong) == 0 {
			t.Fatal("the subject names no wrong voice")
		}
		s := subject.New()
		all := subject.Pool
		all.Voices = append([]voice.Voice{first}, subject.Wrong...)
		var slugs []string
		for _, v := range subject.Wrong {
			slugs = append(slugs, v.Slug)
			_, err := s.Synthesize(ctx, speech.Request{Text: sentence, Voice: v})
			wantPermanent(t, "synthesize", err, v.Slug)
		}
		err := s.Check(ctx, all)
		wantPermanent(t, "check", err, slugs...)
		if err != nil && strings.Contains(err.Error(), strconv.Quote(first.Slug)) {
			t.Errorf("check blames voice %q, which is right: %v", first.Slug, err)
		}
	})

	t.Run("same request, same bytes", func(t *testing.T) {
		one := speak(t, subject.New(), sentence, first)
		shared := subject.New()
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				got, err := shared.Synthesize(ctx, speech.Request{Text: sentence, Voice: first, Seed: 1})
				if err != nil || !bytes.Equal(one.Audio, got.Audio) {
					t.Errorf("again: %v, %d bytes, the first time %d", err, len(got.Audio), len(one.Audio))
				}
			})
		}
		wait.Wait()
		if one.Characters != utf8.RuneCountInString(sentence) {
			t.Errorf("%d characters, want %d", one.Characters, utf8.RuneCountInString(sentence))
		}
	})

	t.Run("distinct voices, distinct audio", func(t *testing.T) {
		s := subject.New()
		heard := map[string]string{}
		for _, v := range subject.Pool.Voices {
			audio := string(speak(t, s, sentence, v).Audio)
			if other, same := heard[audio]; same {
				t.Errorf("voices %s and %s sound the same", other, v.Slug)
			}
			heard[audio] = v.Slug
		}
	})

	t.Run("distinct texts, distinct audio", func(t *testing.T) {
		s := subject.New()
		if bytes.Equal(speak(t, s, "Yes, of course.", first).Audio, speak(t, s, "No, never again.", first).Audio) {
			t.Error("two texts sound the same")
		}
	})

	for name, raw := range Turns {
		t.Run("turn/"+name, func(t *testing.T) {
			t.Parallel()
			text := speech.Normalize(raw)
			if text == "" {
				t.Fatalf("%q has no word", raw)
			}
			speak(t, subject.New(), text, first)
		})
	}

	t.Run("text without words", func(t *testing.T) {
		s := subject.New()
		for _, text := range []string{"", " ", "...", "?!", "--"} {
			got, err := s.Synthesize(ctx, speech.Request{Text: text, Voice: first})
			wantPermanent(t, strconv.Quote(text), err)
			if len(got.Audio) > 0 {
				t.Errorf("%q gives %d bytes of audio", text, len(got.Audio))
			}
		}
	})

	t.Run("cancelled", func(t *testing.T) {
		s := subject.New()
		if _, err := s.Engine(ctx); err != nil {
			t.Fatal(err)
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		_, err := s.Synthesize(cancelled, speech.Request{Text: sentence, Voice: first})
		if !errors.Is(err, context.Canceled) || fault.KindOf(err) == fault.Permanent {
			t.Errorf("a cancelled call gives %v of kind %s, want context.Canceled and not permanent", err, fault.KindOf(err))
		}
	})
}

// wantPermanent checks that err is a Permanent fault with a code and names all
// of the words.
func wantPermanent(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Permanent || f.Code == "" {
		t.Errorf("%s: error %v, want a permanent fault with a code", what, err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %q does not name %s", what, err, word)
		}
	}
}
