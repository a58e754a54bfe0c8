// Package recognizetest is the conformance suite of recogniser adapters.
package recognizetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/recognize"
)

// Run tests an adapter on a clip of clear speech and the words said in it; at
// most half of them may be misheard.
func Run(t *testing.T, newRecognizer func(*testing.T) recognize.Recognizer, clip audio.PCM, said string) {
	t.Run("engine", func(t *testing.T) {
		first, err := newRecognizer(t).Engine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second, err := newRecognizer(t).Engine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first.Name == "" || first.Model == "" || first.Version == "" {
			t.Errorf("incomplete: %+v", first)
		}
		if first != second {
			t.Errorf("two recognisers, two engines:\n%+v\n%+v", first, second)
		}
	})
	t.Run("speech", func(t *testing.T) {
		recognizer := newRecognizer(t)
		got := recognizeClip(t, recognizer, clip)
		checkWords(t, got)
		if engine, _ := recognizer.Engine(t.Context()); got.Engine != engine {
			t.Errorf("transcript of engine %+v, want %+v", got.Engine, engine)
		}
		if got.Length != clip.Seconds() {
			t.Errorf("length %v s, want %v s", got.Length, clip.Seconds())
		}
		var texts []string
		for _, w := range got.Words {
			texts = append(texts, w.Text)
		}
		rate := recognize.WER(dialogue.Words(said), dialogue.Words(strings.Join(texts, " ")))
		if !rate.Defined || rate.Rate > 0.5 {
			t.Errorf("word error rate %v, heard %q", rate, texts)
		}
	})
	t.Run("any rate, any number at once", func(t *testing.T) {
		recognizer := newRecognizer(t)
		resampled := audio.Resample(clip, 44_100)
		results := make(chan recognize.Transcript, 2)
		for range cap(results) {
			go func() {
				got, err := recognizer.Recognize(t.Context(), resampled)
				if err != nil {
					t.Error(err)
				}
				results <- got
			}()
		}
		first, second := <-results, <-results
		checkWords(t, first)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("the same clip, two transcripts:\n%s", diff)
		}
	})
	t.Run("nothing said", func(t *testing.T) {
		silence := audio.PCM{Rate: 16_000, Samples: make([]float32, 16_000)}
		for name, quiet := range map[string]audio.PCM{"silence": silence, "no samples": {Rate: 16_000}} {
			got := recognizeClip(t, newRecognizer(t), quiet)
			if len(got.Words) != 0 || got.Words == nil || got.Length != quiet.Seconds() {
				t.Errorf("%s: transcript %+v, want no words (not nil) and the length", name, got)
			}
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := newRecognizer(t).Recognize(ctx, clip); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	})
}

func recognizeClip(t *testing.T, r recognize.Recognizer, clip audio.PCM) recognize.Transcript {
	t.Helper()
	got, err := r.Recognize(t.Context(), clip)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func checkWords(t *testing.T, got recognize.Transcript) {
	t.Helper()
	last := 0.0
	for _, w := range got.Words {
		if w.Text == "" || w.Text != strings.TrimSpace(w.Text) || w.Start < last || w.End < w.Start || w.End > got.Length+0.1 {
			t.Errorf("word %+v after %v s in a clip of %v s", w, last, got.Length)
		}
		if !(w.Confidence >= 0 && w.Confidence <= 1) {
			t.Errorf("word %+v: confidence outside [0, 1]", w)
		}
		last = w.Start
	}
}
