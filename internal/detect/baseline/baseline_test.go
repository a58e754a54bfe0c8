package baseline_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/detect/detecttest"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/sample"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// own returns the project's own training text, with clips: YES sounds higher.
func own(tb testing.TB, withClips bool) baseline.TrainOptions {
	tb.Helper()
	dataset, err := dialogue.ReadCSV(bytes.NewReader(sample.Training()))
	if err != nil {
		tb.Fatal(err)
	}
	opts := baseline.TrainOptions{Dialogues: dataset.Dialogues, DatasetName: "training.csv"}
	if withClips {
		opts.Clips = map[string]func(context.Context) (audio.PCM, error){}
		for i, d := range dataset.Dialogues {
			hz := 100 + float64(i%7)
			if d.Truth == dialogue.Yes {
				hz += 60
			}
			opts.Clips[d.ID] = func(context.Context) (audio.PCM, error) { return hum(hz, .5), nil }
		}
	}
	return opts
}

func hum(hz, seconds float64) audio.PCM {
	clip := audio.PCM{Rate: 8_000, Samples: make([]float32, int(8_000*seconds))}
	for i := range clip.Samples {
		phase := 2 * math.Pi * hz * float64(i) / 8_000
		clip.Samples[i] = float32(.2*math.Sin(phase) + .1*math.Sin(2*phase))
	}
	return clip
}

func train(tb testing.TB, opts baseline.TrainOptions) (*baseline.Model, baseline.Evaluation) {
	tb.Helper()
	model, evaluation, err := baseline.Train(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	return model, evaluation
}

func newDetector(tb testing.TB, model *baseline.Model, name string) detect.Detector {
	tb.Helper()
	d, err := baseline.New(model, name)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// spoken is a transcript of utterances half a second apart, a word every 0.3 s.
func spoken(utterances ...string) recognize.Transcript {
	var transcript recognize.Transcript
	at := 0.0
	for _, utterance := range utterances {
		for word := range strings.FieldsSeq(utterance) {
			transcript.Words = append(transcript.Words, recognize.Word{Text: word, Start: at, End: at + .25, Confidence: 1})
			at += .3
		}
		at += .5
	}
	transcript.Length = at
	return transcript
}

func items() map[detect.Modality]detect.Item {
	clip := func(context.Context) (audio.PCM, error) { return hum(130, 5), nil }
	transcript := func(context.Context) (recognize.Transcript, error) {
		return spoken("good morning to you", "after everything i did for you", "you owe me"), nil
	}
	return map[detect.Modality]detect.Item{
		detect.Text: {ID: "x", Modality: detect.Text, Turns: []dialogue.Turn{
			{Speaker: "Person1", Text: "Good morning. After everything I did for you, you owe me!"},
			{Speaker: "Person2", Text: "I said no."},
		}},
		detect.Audio: {ID: "x", Modality: detect.Audio, Audio: clip, Transcript: transcript},
		detect.ASR:   {ID: "x", Modality: detect.ASR, Transcript: transcript},
	}
}

func TestConformance(t *testing.T) {
	model, _ := train(t, own(t, true))
	for _, name := range baseline.Names() {
		for modality, item := range items() {
			if name == baseline.Prosody && modality != detect.Audio {
				continue
			}
			t.Run(name+" "+string(modality), func(t *testing.T) {
				detecttest.Run(t, func(t *testing.T) detect.Detector { return newDetector(t, model, name) }, item)
			})
		}
	}
}

func TestTrainingIsReproducible(t *testing.T) {
	opts := own(t, true)
	first, firstEvaluation := train(t, opts)
	opts.Dialogues = slices.Clone(opts.Dialogues)
	slices.Reverse(opts.Dialogues)
	second, secondEvaluation := train(t, opts)
	if !bytes.Equal(first.Encode(), second.Encode()) {
		t.Error("the same dialogues in another order, another model")
	}
	if diff := cmp.Diff(firstEvaluation, secondEvaluation); diff != "" {
		t.Errorf("another evaluation:\n%s", diff)
	}
	loaded, err := baseline.Load(first.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(loaded.Encode(), first.Encode()) || loaded.Hash() != first.Hash() {
		t.Error("loading a model changes it")
	}
	opts.Dialogues = opts.Dialogues[1:]
	if other, _ := train(t, opts); other.Hash() == first.Hash() {
		t.Error("other dialogues, the same hash")
	}
}

// A held-out or tested dialogue must leave no trace in the model.
func TestSeen(t *testing.T) {
	opts := own(t, false)
	all, _ := train(t, opts)
	held := newDetector(t, all, baseline.Cascade).Seen().IDs[0]
	opts.HeldOut = []string{" " + held, "t999"}
	model, evaluation := train(t, opts)
	if evaluation.Parts.HeldOut != 1 {
		t.Errorf("%d held out, want 1", evaluation.Parts.HeldOut)
	}
	seen := newDetector(t, model, baseline.Cascade).Seen()
	if slices.Contains(seen.IDs, held) {
		t.Errorf("%s was held out and seen", held)
	}
	if want := evaluation.Parts.Train + evaluation.Parts.Valid; len(seen.IDs) != want || len(seen.TextHashes) != want {
		t.Errorf("%d ids and %d hashes seen, want %d", len(seen.IDs), len(seen.TextHashes), want)
	}
	for _, d := range opts.Dialogues {
		at := slices.Index(seen.IDs, d.ID)
		if at >= 0 && seen.TextHashes[at] != d.TextHash() {
			t.Errorf("%s: another text hash", d.ID)
		}
	}
	// Changing what wasn't seen must not change the model.
	changed := slices.Clone(opts.Dialogues)
	for i, d := range changed {
		if !slices.Contains(seen.IDs, d.ID) {
			changed[i].Turns = []dialogue.Turn{{Speaker: "Person1", Text: "zebra zebra zebra"}}
			changed[i].Truth = dialogue.Yes
		}
	}
	opts.Dialogues = changed
	if again, _ := train(t, opts); again.Hash() != model.Hash() {
		t.Error("the model depends on dialogues outside its training and validation parts")
	}
}

func TestTrainLearns(t *testing.T) {
	model, evaluation := train(t, own(t, true))
	t.Logf("%d bytes\n%s", len(model.Encode()), evaluation)
	d := newDetector(t, model, baseline.Prosody)
	for hz, want := range map[float64]vote.Vote{102: vote.VoteNo, 163: vote.VoteYes} {
		item := detect.Item{ID: "x", Modality: detect.Audio, Audio: func(context.Context) (audio.PCM, error) { return hum(hz, .5), nil }}
		got, err := d.Decide(t.Context(), item, detect.Pass{})
		if err != nil || got.Vote != want {
			t.Errorf("a hum of %v Hz: %+v, %v; want %s", hz, got, err, want)
		}
	}
	if diff := cmp.Diff(baseline.Names(), model.Detectors()); diff != "" {
		t.Errorf("detectors:\n%s", diff)
	}
}

// tiny is a dataset whose only clue is the word "owe", or "surrender".
func tiny() []dialogue.Dialogue {
	var dialogues []dialogue.Dialogue
	for i := range 80 {
		d := dialogue.Dialogue{ID: string(rune('a'+i%26)) + string(rune('a'+i/26)), Truth: dialogue.No, Turns: []dialogue.Turn{
			{Speaker: "Person1", Text: "Hello there. Nice weather today."},
			{Speaker: "Person2", Text: "See you soon, thanks."},
		}}
		switch i % 4 {
		case 0:
			d.Truth, d.Tactics = dialogue.Yes, []tactic.Tactic{tactic.Shaming}
			d.Turns[0].Text = "Hello there. You owe me this much. Nice weather."
		case 1:
			d.Truth, d.Tactics = dialogue.Yes, []tactic.Tactic{tactic.Intimidation}
			d.Turns[1].Text = "Thanks. You will surrender it now! See you soon."
		}
		dialogues = append(dialogues, d)
	}
	return dialogues
}

func TestCascadeFindsTheClue(t *testing.T) {
	model, _ := train(t, baseline.TrainOptions{Dialogues: tiny(), DatasetName: "tiny"})
	d := newDetector(t, model, baseline.Cascade)
	text := func(turns ...string) detect.Item {
		item := detect.Item{ID: "x", Modality: detect.Text}
		for _, turn := range turns {
			item.Turns = append(item.Turns, dialogue.Turn{Speaker: "Person1", Text: turn})
		}
		return item
	}
	heard := func(utterances ...string) detect.Item {
		return detect.Item{ID: "x", Modality: detect.Audio, Transcript: func(context.Context) (recognize.Transcript, error) { return spoken(utterances...), nil }}
	}
	tests := map[string]struct {
		item   detect.Item
		vote   vote.Vote
		tactic tactic.Tactic
		quote  detect.Evidence
	}{
		"text shame":  {text("Hello there. Nice weather.", "Well... You owe me this, “friend”! Thanks."), vote.VoteYes, tactic.Shaming, detect.Evidence{Quote: "You owe me this, “friend”!"}},
		"text threat": {text("You will surrender it.", "Thanks."), vote.VoteYes, tactic.Intimidation, detect.Evidence{Quote: "You will surrender it."}},
		"text NO":     {text("Hello there.", "Nice weather today."), vote.VoteNo, "", detect.Evidence{}},
		"clip shame":  {heard("hello there", "you owe me", "thanks"), vote.VoteYes, tactic.Shaming, detect.Evidence{Quote: "you owe me", Start: 1.1, End: 1.95}},
		"clip empty":  {heard(), vote.VoteInvalid, "", detect.Evidence{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			decision, err := d.Decide(t.Context(), test.item, detect.Pass{})
			if err != nil || decision.Vote != test.vote {
				t.Fatalf("%+v, %v; want %s", decision, err, test.vote)
			}
			if test.tactic != "" {
				scores, err := d.ScoreTactics(t.Context(), test.item)
				if err != nil {
					t.Fatal(err)
				}
				if slices.Contains(scores.LowConfidence, string(test.tactic)) || len(scores.LowConfidence) != 9 {
					t.Errorf("low confidence: %q, want the nine tactics that the data doesn't show", scores.LowConfidence)
				}
				top := scores.Mass(test.tactic)
				for i, m := range scores.Masses {
					if m.P > top.P {
						t.Errorf("%s scores %d, %s only %d", tactic.Options()[i], m.P, test.tactic, top.P)
					}
				}
			}
			got, err := d.Quote(t.Context(), test.item, detect.QuoteRequest{})
			if err != nil {
				t.Fatal(err)
			}
			near := math.Abs(got.Start-test.quote.Start) < 1e-9 && math.Abs(got.End-test.quote.End) < 1e-9
			if test.vote != vote.VoteNo && (got.Quote != test.quote.Quote || !near) {
				t.Errorf("quote %+v, want %+v", got, test.quote)
			}
		})
	}
}

func TestMajorityIsAlwaysTheMajority(t *testing.T) {
	opts := own(t, false)
	yes := slices.DeleteFunc(slices.Clone(opts.Dialogues), func(d dialogue.Dialogue) bool { return d.Truth == dialogue.No && d.ID > "t080" })
	no := slices.DeleteFunc(slices.Clone(opts.Dialogues), func(d dialogue.Dialogue) bool { return d.Truth == dialogue.Yes && d.ID > "t080" })
	for want, dialogues := range map[vote.Vote][]dialogue.Dialogue{vote.VoteYes: yes, vote.VoteNo: no} {
		model, _ := train(t, baseline.TrainOptions{Dialogues: dialogues})
		d := newDetector(t, model, baseline.Majority)
		for seed := range int64(50) {
			got, err := d.Decide(t.Context(), items()[detect.Text], detect.Pass{Seed: seed, Sampling: vote.Sampling{Temperature: 1, TopP: 1}})
			if err != nil || got.Vote != want {
				t.Fatalf("seed %d: %+v, %v; want %s", seed, got, err, want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	model, _ := train(t, own(t, false))
	for name, test := range map[string]struct {
		model    *baseline.Model
		detector string
		want     string
	}{
		"unknown":         {model, "baseline-magic", "valid are baseline-cascade, baseline-duration, baseline-prosody, baseline-majority"},
		"without clips":   {model, baseline.Prosody, "trained without clips"},
		"without a model": {nil, baseline.Cascade, "baseline train"},
	} {
		if _, err := baseline.New(test.model, test.detector); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
	cascade := newDetector(t, model, baseline.Cascade)
	bad := items()[detect.Text]
	bad.Prepared = []byte(`{"tactics":[]}`)
	for name, item := range map[string]detect.Item{
		"no transcript":      {ID: "x", Modality: detect.Audio},
		"bad prepared":       bad,
		"prepared for other": {ID: "x", Modality: detect.Text, Prepared: []byte("RIFF")},
	} {
		if _, err := cascade.Decide(t.Context(), item, detect.Pass{}); fault.KindOf(err) != fault.Permanent {
			t.Errorf("%s: error %v, want a permanent fault", name, err)
		}
	}
	duration := newDetector(t, model, baseline.Duration)
	if _, err := duration.Prepare(t.Context(), detect.Item{ID: "x", Modality: detect.Audio}); fault.KindOf(err) != fault.Permanent {
		t.Errorf("no audio: error %v, want a permanent fault", err)
	}
}

func TestTrainRefuses(t *testing.T) {
	few := own(t, true)
	for id := range few.Clips {
		if id > "t020" {
			delete(few.Clips, id)
		}
	}
	twice := own(t, false)
	twice.Dialogues = append(twice.Dialogues, twice.Dialogues[0])
	onlyYes := own(t, false)
	onlyYes.Dialogues = slices.DeleteFunc(onlyYes.Dialogues, func(d dialogue.Dialogue) bool { return d.Truth == dialogue.No })
	for name, test := range map[string]struct {
		opts baseline.TrainOptions
		want string
	}{
		"nothing":   {baseline.TrainOptions{}, "0 NO and 0 YES"},
		"one truth": {onlyYes, "0 NO and"},
		"same id":   {twice, `two dialogues with the id "t001"`},
		"few clips": {few, "give more clips, or none"},
	} {
		if _, _, err := baseline.Train(t.Context(), test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
}

func BenchmarkClassify(b *testing.B) {
	model, _ := train(b, own(b, false))
	d := newDetector(b, model, baseline.Cascade)
	item := items()[detect.ASR]
	for b.Loop() {
		if _, err := d.Prepare(b.Context(), item); err != nil {
			b.Fatal(err)
		}
	}
}
