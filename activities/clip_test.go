package activities

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
)

func TestCheckSpeech(t *testing.T) {
	f := newFixture(t, nil)
	if engine := must[speech.Engine](t, f.speech.CheckSpeech, f.task.Manifest); engine != tonesEngine {
		t.Errorf("engine %+v", engine)
	}
	f.tones.fail = fault.Permanentf("ask tones", "engine_missing", "not installed")
	_, err := run[speech.Engine](t, f.speech.CheckSpeech, f.task.Manifest)
	failedWith(t, err, "engine_missing", false)

	f = newFixture(t, func(s *evaluation.Spec) { s.Speech.Pool.Voices[1].Params = nil })
	_, err = run[speech.Engine](t, f.speech.CheckSpeech, f.task.Manifest)
	failedWith(t, err, "voice_not_found", false)
}

func TestSynthesizeTurn(t *testing.T) {
	f := newFixture(t, nil)
	turn := func(i int) TurnResult {
		return must[TurnResult](t, f.speech.SynthesizeTurn, TurnTask{Task: f.task, Turn: i})
	}
	if diff := cmp.Diff(TurnResult{Characters: 17, Made: true}, turn(0)); diff != "" {
		t.Errorf("first time (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(TurnResult{}, turn(0)); diff != "" {
		t.Errorf("second time (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(TurnResult{}, turn(3)); diff != "" {
		t.Errorf("the same words by the same voice (-want +got):\n%s", diff)
	}
	if len(f.tones.asked) != 1 || f.tones.asked[0].Text != "You never listen." {
		t.Errorf("asked for %+v, want one call with the text", f.tones.asked)
	}
	if diff := cmp.Diff([]string{"call turns", "stored turns"}, f.lines()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestSynthesizeTurnFailures(t *testing.T) {
	f := newFixture(t, nil)
	_, err := run[TurnResult](t, f.speech.SynthesizeTurn, TurnTask{Task: f.task, Turn: 4})
	failedWith(t, err, "bad_input", false)
	f.tones.fail = &fault.Error{Kind: fault.Transient, Op: "speak", Code: "unreachable", Err: errors.New("reset")}
	_, err = run[TurnResult](t, f.speech.SynthesizeTurn, TurnTask{Task: f.task, Turn: 0})
	failedWith(t, err, "unreachable", true)
}

func TestComposeClip(t *testing.T) {
	f := newFixture(t, nil)
	result := f.render(t)
	data, err := objectstore.Bytes(t.Context(), f.store, result.Clip)
	if err != nil {
		t.Fatal(err)
	}
	pcm, _, err := audio.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	timeline := get[audio.Timeline](t, f.store, result.Timeline)
	// 3, 4 and 3 words of half a second, 0.2 s for the wordless turn, 3 gaps.
	if got, want := pcm.Seconds(), 5+0.2+3*0.2; pcm.Rate != 24000 || math.Abs(got-want) > 0.05 || len(pcm.Samples) != timeline.Samples {
		t.Errorf("%g s at %d Hz, timeline %d of %d samples; want %g s at 24000 Hz", got, pcm.Rate, timeline.Samples, len(pcm.Samples), want)
	}
	if math.Abs(timeline.LUFS-f.manifest.Spec.Compose.TargetLUFS) > 1 || timeline.TruePeak > -1 {
		t.Errorf("%g LUFS, %g dBTP", timeline.LUFS, timeline.TruePeak)
	}
	if !timeline.Synthetic || timeline.Provenance != (audio.Provenance{Title: "7", Synthesizer: "tones 1", Software: "test"}) {
		t.Errorf("provenance %+v", timeline.Provenance)
	}
	voices := map[string]string{}
	for i, span := range timeline.Turns {
		turn := quarrel.Turns[i]
		if span.Turn != i || span.Speaker != string(turn.Speaker) || span.TextHash != textHash(turn.Text) {
			t.Errorf("turn %d in the timeline: %+v", i, span)
		}
		if voice, known := voices[span.Speaker]; known && voice != span.Voice {
			t.Errorf("%s speaks as %s and as %s", span.Speaker, voice, span.Voice)
		}
		voices[span.Speaker] = span.Voice
	}
	if len(timeline.Turns) != 4 || voices["Person1"] == voices["Person2"] {
		t.Errorf("%d turns by voices %v", len(timeline.Turns), voices)
	}

	// Composing again changes nothing.
	if again := must[ClipResult](t, f.clips.ComposeClip, f.task); again != result {
		t.Errorf("composed again: %+v, want %+v", again, result)
	}
}

func TestComposeClipFailures(t *testing.T) {
	t.Run("a turn is not stored", func(t *testing.T) {
		f := newFixture(t, nil)
		_, err := run[ClipResult](t, f.clips.ComposeClip, f.task)
		failedWith(t, err, CodeLost, false)
	})
	t.Run("a turn's audio is broken", func(t *testing.T) {
		f := newFixture(t, nil)
		f.render(t)
		for entry, err := range f.store.List(t.Context(), "turns/") {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := objectstore.PutBytes(t.Context(), f.store, entry.Key, []byte("no audio"), objectstore.PutOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := run[ClipResult](t, f.clips.ComposeClip, f.task); err == nil {
			t.Error("composed from no audio")
		}
	})
}

func TestRecognizeAndMeasure(t *testing.T) {
	f := newFixture(t, nil)
	clip := f.render(t)
	f.ears.words = []string{"you", "never", "listen", "i", "do", "glisten", "really", "you", "never", "listen"}
	task := ClipTask{Task: f.task, Clip: clip.Clip, Timeline: clip.Timeline}
	heard := must[StoredResult](t, f.clips.RecognizeClip, task)
	again := must[StoredResult](t, f.clips.RecognizeClip, task)
	if !heard.Made || again.Made || again.Ref != heard.Ref || f.ears.calls != 1 {
		t.Errorf("first %+v, then %+v, %d calls", heard, again, f.ears.calls)
	}
	if transcript := get[recognize.Transcript](t, f.store, heard.Ref); len(transcript.Words) != 10 || transcript.Engine != earsEngine {
		t.Errorf("transcript %+v", transcript)
	}

	task.Transcript = heard.Ref
	measured := must[StoredResult](t, f.clips.MeasureClip, task)
	quality := get[evaluation.ClipQuality](t, f.store, measured.Ref)
	if !measured.Made || !quality.WERIsSet || quality.WER != 0.1 || quality.Reference != 10 {
		t.Errorf("made %v, quality %+v; want one error in 10 words", measured.Made, quality)
	}
	timeline := get[audio.Timeline](t, f.store, clip.Timeline)
	hz := map[string]float64{"low": 110, "high": 220}
	if len(quality.Turns) != 3 {
		t.Errorf("pitch of %d turns, want 3", len(quality.Turns))
	}
	for _, turn := range quality.Turns {
		want := hz[timeline.Turns[turn.Turn].Voice]
		if math.Abs(turn.F0-want) > 0.05*want || turn.Voice != timeline.Turns[turn.Turn].Voice {
			t.Errorf("turn %+v, want %g Hz", turn, want)
		}
	}
	if again := must[StoredResult](t, f.clips.MeasureClip, task); again.Made || again.Ref != measured.Ref {
		t.Errorf("measured again: %+v", again)
	}
}

// Somebody else's clip has words to compare, and no turns to measure.
func TestMeasureClipWithoutTimeline(t *testing.T) {
	f := newFixture(t, nil)
	task := ClipTask{Task: f.task, Clip: f.render(t).Clip}
	task.Transcript = must[StoredResult](t, f.clips.RecognizeClip, task).Ref
	quality := get[evaluation.ClipQuality](t, f.store, must[StoredResult](t, f.clips.MeasureClip, task).Ref)
	if !quality.WERIsSet || quality.WER != 1 || len(quality.Turns) != 0 {
		t.Errorf("quality %+v, want that every word is missing and no pitch", quality)
	}
}

func TestRecognizeFailures(t *testing.T) {
	store := func(f *fixture, key string, data []byte) objectstore.Ref {
		ref, err := f.store.Put(t.Context(), key, bytes.NewReader(data), objectstore.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	recognized := func(f *fixture, clip objectstore.Ref) error {
		_, err := run[StoredResult](t, f.clips.RecognizeClip, ClipTask{Task: f.task, Clip: clip})
		return err
	}
	t.Run("no audio", func(t *testing.T) {
		f := newFixture(t, nil)
		failedWith(t, recognized(f, store(f, "clips/source-1.mp3", []byte("no audio"))), "bad_input", false)
	})
	t.Run("no samples", func(t *testing.T) {
		f := newFixture(t, nil)
		var empty audio.Buffer
		if err := audio.EncodeWAV(&empty, audio.PCM{Rate: 16000}, nil); err != nil {
			t.Fatal(err)
		}
		failedWith(t, recognized(f, store(f, "clips/source-2.wav", empty.Bytes())), "bad_input", false)
	})
	t.Run("corrupt", func(t *testing.T) {
		f := newFixture(t, nil)
		clip := f.render(t).Clip
		store(f, clip.Key, []byte("something else"))
		failedWith(t, recognized(f, clip), CodeLost, false)
		if f.ears.calls != 0 {
			t.Error("a corrupt clip was recognised")
		}
	})
	t.Run("recogniser", func(t *testing.T) {
		f := newFixture(t, nil)
		f.ears.fail = fault.Permanentf("recognise", "engine_missing", "not installed")
		failedWith(t, recognized(f, f.render(t).Clip), "engine_missing", false)
	})
}
