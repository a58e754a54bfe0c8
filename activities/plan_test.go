package activities

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func TestPlanDialogue(t *testing.T) {
	f := newFixture(t, nil)
	want := Plan{
		Spoken: []int{0, 1, 3}, NeedsClip: true, NeedsWords: true, // turn 2 has no words
		SpeechQueue: "speech-tones", DetectQueue: "detect-cpu-test", Rules: vote.Paper(),
		Modalities: []detect.Modality{detect.Audio},
	}
	if diff := cmp.Diff(want, must[Plan](t, f.planner.PlanDialogue, f.task)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}

	clip := f.render(t)
	want.Spoken, want.Clip, want.Timeline = nil, clip.Clip, clip.Timeline
	if diff := cmp.Diff(want, must[Plan](t, f.planner.PlanDialogue, f.task)); diff != "" {
		t.Errorf("plan with the clip in the store (-want +got):\n%s", diff)
	}
}

// A clip without its timeline may be half of a composition.
func TestPlanTrustsTheTimelineOnly(t *testing.T) {
	f := newFixture(t, nil)
	clip := f.render(t)
	if err := f.store.Delete(t.Context(), clip.Timeline.Key); err != nil {
		t.Fatal(err)
	}
	if plan := must[Plan](t, f.planner.PlanDialogue, f.task); !plan.Clip.IsZero() || len(plan.Spoken) != 3 {
		t.Errorf("plan %+v, want everything spoken", plan)
	}
}

func TestPlanByModality(t *testing.T) {
	clip := objectstore.Ref{Key: "clips/source-1.mp3", SHA256: "1", Size: 1}
	timeline := objectstore.Ref{Key: "clips/1.json", SHA256: "2", Size: 2}
	for _, test := range []struct {
		name     string
		modality detect.Modality
		clip     objectstore.Ref
		want     Plan
	}{
		{"asr is heard", detect.ASR, objectstore.Ref{}, Plan{Spoken: []int{0, 1, 3}, NeedsClip: true, NeedsWords: true}},
		{"text is read", detect.Text, objectstore.Ref{}, Plan{}},
		{"both is heard, and judged by its clip first", evaluation.Both, objectstore.Ref{}, Plan{
			Spoken: []int{0, 1, 3}, NeedsClip: true, NeedsWords: true, Modalities: []detect.Modality{detect.Audio, detect.Text},
		}},
		{"a clip that exists", detect.Audio, clip, Plan{Clip: clip, NeedsClip: true, NeedsWords: true}},
		{"a clip that an earlier evaluation composed", detect.Audio, clip, Plan{Clip: clip, Timeline: timeline, NeedsClip: true, NeedsWords: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, func(s *evaluation.Spec) { s.Detection.Modality = test.modality })
			f.task.Item.Clip, f.task.Item.Timeline = test.clip, test.want.Timeline
			if test.want.Modalities == nil {
				test.want.Modalities = []detect.Modality{test.modality}
			}
			test.want.SpeechQueue, test.want.DetectQueue, test.want.Rules = "speech-tones", "detect-cpu-test", vote.Paper()
			if diff := cmp.Diff(test.want, must[Plan](t, f.planner.PlanDialogue, f.task)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// Without the quality gate a clip is recognised only for who reads its words.
func TestPlanWithoutQuality(t *testing.T) {
	for name, test := range map[string]struct {
		modality   detect.Modality
		needsWords bool
		unheard    bool
	}{
		"nobody reads words":       {detect.Audio, false, true},
		"the detector reads words": {detect.Audio, true, false},
		"words are what is judged": {detect.ASR, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(s *evaluation.Spec) { s.Detection.Modality, s.Quality.Off = test.modality, true })
			f.task.Engines = f.saveEngines(t, evaluation.Engines{Speech: tonesEngine, Recognizer: earsEngine, Detector: standIn, NeedsWords: test.needsWords})
			if plan := must[Plan](t, f.planner.PlanDialogue, f.task); plan.Unheard != test.unheard {
				t.Errorf("unheard %v, want %v", plan.Unheard, test.unheard)
			}
		})
	}
}

func TestPlanFailures(t *testing.T) {
	t.Run("more speakers than voices", func(t *testing.T) {
		f := newFixture(t, func(s *evaluation.Spec) { s.Speech.Pool.Voices = s.Speech.Pool.Voices[:1] })
		_, err := run[Plan](t, f.planner.PlanDialogue, f.task)
		failedWith(t, err, "bad_input", false)
	})
	t.Run("no manifest", func(t *testing.T) {
		f := newFixture(t, nil)
		f.task.Manifest.Key = "evaluations/x/manifest.json"
		f.task.Manifest.SHA256 = "another"
		_, err := run[Plan](t, f.planner.PlanDialogue, f.task)
		failedWith(t, err, "object_not_found", false)
	})
	t.Run("the line is not the one that was stored", func(t *testing.T) {
		f := newFixture(t, nil)
		f.task.Item.Line.SHA256 = "another"
		if _, err := run[Plan](t, f.planner.PlanDialogue, f.task); err == nil || !strings.Contains(err.Error(), objectstore.ErrCorrupt.Error()) {
			t.Errorf("error %v, want %v", err, objectstore.ErrCorrupt)
		}
	})
	t.Run("the line is outside the dataset", func(t *testing.T) {
		f := newFixture(t, nil)
		f.task.Item.Line.Offset += 1 << 20
		_, err := run[Plan](t, f.planner.PlanDialogue, f.task)
		failedWith(t, err, "object_range", false)
	})
}

func TestLoadChunk(t *testing.T) {
	f := newFixture(t, nil)
	chunk := must[evaluation.Chunk](t, f.planner.LoadChunk, f.manifest.Chunks[0])
	if diff := cmp.Diff(evaluation.Chunk{Items: []evaluation.Item{f.task.Item}}, chunk); diff != "" {
		t.Errorf("chunk (-want +got):\n%s", diff)
	}
	_, err := run[evaluation.Chunk](t, f.planner.LoadChunk, objectstore.Ref{Key: "chunks/none.json"})
	failedWith(t, err, "object_not_found", false)
}

// The keys of fixed inputs are pinned: whoever changes one makes everything that
// is stored be made again, and should know.
func TestKeysAreStable(t *testing.T) {
	f := newFixture(t, nil)
	clip := f.render(t)
	job, err := f.planner.Library.Open(t.Context(), f.task)
	if err != nil {
		t.Fatal(err)
	}
	script, err := job.script()
	if err != nil {
		t.Fatal(err)
	}
	turns := make([]string, len(script.Turns))
	for i, turn := range script.Turns {
		turns[i] = turn.Key
	}
	pass := must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: JudgeTask{
		Task: f.task, Clip: objectstore.Ref{Key: "clips/c.wav", SHA256: "c"}, Transcript: objectstore.Ref{Key: "transcripts/t.json"}, Modality: detect.Audio,
	}, Index: 2})
	got := map[string]string{
		"turn 0": turns[0], "turn 1": turns[1], "turn 2": turns[2], "turn 3": turns[3],
		"clip": clip.Clip.Key, "timeline": clip.Timeline.Key, "pass": pass.Ref.Key,
	}
	want := map[string]string{
		"turn 0":   "turns/83e1de896c12b7d42dee94379a9589e3951b31d2d4c4366abec9063758374cca.wav",
		"turn 1":   "turns/39b94df64b3f7dca056a79d8a7bdacaa0c8ec6ad2949d25922a5dce7425cb2db.wav",
		"turn 2":   "", // no words
		"turn 3":   "turns/83e1de896c12b7d42dee94379a9589e3951b31d2d4c4366abec9063758374cca.wav",
		"clip":     "clips/1ce3afacc70544cf0bdadba90b85b52c782bc0ac65599255a4a41beedd7d6a07.wav",
		"timeline": "clips/1ce3afacc70544cf0bdadba90b85b52c782bc0ac65599255a4a41beedd7d6a07.json",
		"pass":     "passes/92855c1ab02399bdf09ef54c797a87c878f4b05f064988c31d9ded51b8d2d73b.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// With context each spoken turn knows its spoken neighbours, and its key knows them
// too; without, keys are as TestKeysAreStable pins them.
func TestScriptWithContext(t *testing.T) {
	f := newFixture(t, nil)
	job, err := f.planner.Library.Open(t.Context(), f.task)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := job.script()
	if err != nil {
		t.Fatal(err)
	}
	job.Spec.Speech.Context = true
	script, err := job.script()
	if err != nil {
		t.Fatal(err)
	}
	text := func(i int) string { return plain.Turns[i].Say.Text }
	want := [][2]string{{"", text(1)}, {text(0), text(3)}, {"", ""}, {text(1), ""}} // turn 2 has no words
	for i, turn := range script.Turns {
		if got := [2]string{turn.Say.Previous, turn.Say.Next}; got != want[i] {
			t.Errorf("turn %d stands between %q, want %q", i, got, want[i])
		}
		if spoken := i != 2; (turn.Key != plain.Turns[i].Key) != spoken {
			t.Errorf("turn %d: key %q, without context %q", i, turn.Key, plain.Turns[i].Key)
		}
	}
	if script.Turns[0].Key == script.Turns[3].Key {
		t.Error("the same text between other neighbours has the same key")
	}
}
