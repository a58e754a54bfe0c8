package activities

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// heard renders and recognises the fixture's clip and prepares its judging.
func (f *fixture) heard(t *testing.T) JudgeTask {
	t.Helper()
	clip := f.render(t)
	f.ears.words = []string{"you", "never", "listen"}
	transcript := must[StoredResult](t, f.clips.RecognizeClip, ClipTask{Task: f.task, Clip: clip.Clip})
	task := JudgeTask{Task: f.task, Clip: clip.Clip, Transcript: transcript.Ref, Modality: detect.Audio}
	task.Prepared = must[PreparedResult](t, f.detection.PrepareItem, task).Ref
	return task
}

func TestCheckDetector(t *testing.T) {
	f := newFixture(t, nil)
	check := must[DetectorCheck](t, f.detection.CheckDetector, CheckTask{Manifest: f.task.Manifest})
	if check.Identity != standIn || !check.NeedsWords {
		t.Errorf("check %+v", check)
	}
	if diff := cmp.Diff(f.detector.Seen(), get[detect.Seen](t, f.store, check.Seen)); diff != "" {
		t.Errorf("what it was trained on (-want +got):\n%s", diff)
	}
	f.detector.fail = fault.Permanentf("ask detector", "engine_missing", "no server")
	_, err := run[DetectorCheck](t, f.detection.CheckDetector, CheckTask{Manifest: f.task.Manifest})
	failedWith(t, err, "engine_missing", false)

	f.detection.Detectors = func(context.Context, Wanted) (detect.Detector, error) {
		return nil, fault.Permanentf("find detector", "unknown_detector", "no detector here")
	}
	_, err = run[DetectorCheck](t, f.detection.CheckDetector, CheckTask{Manifest: f.task.Manifest})
	failedWith(t, err, "unknown_detector", false)
}

func TestPrepareItem(t *testing.T) {
	f := newFixture(t, nil)
	task := f.heard(t)
	body, err := objectstore.Bytes(t.Context(), f.store, task.Prepared)
	if err != nil || string(body) != `{"words":3}` {
		t.Errorf("prepared %s, %v", body, err)
	}
	calls := f.detector.calls
	task.Prepared = objectstore.Ref{}
	if again := must[PreparedResult](t, f.detection.PrepareItem, task); again.Made || f.detector.calls != calls {
		t.Errorf("prepared again: %+v", again)
	}
}

func TestDetectPass(t *testing.T) {
	f := newFixture(t, nil)
	task := f.heard(t)
	seeds := map[int64]bool{}
	var passes []PassResult
	for i := range 5 {
		pass := must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task, Index: i})
		stored := get[evaluation.StoredPass](t, f.store, pass.Ref)
		if !pass.Made || pass.Pass != (vote.Pass{Index: i, Vote: vote.VoteYes, Method: vote.Constrained}) || stored.Pass != pass.Pass {
			t.Errorf("pass %d: %+v, stored %+v", i, pass, stored.Pass)
		}
		if stored.Seed != evaluation.PassSeed(0, task.Clip.SHA256, i) || stored.Sampling != vote.Paper().Sampling || stored.Decision.PYes.P != f.detector.p {
			t.Errorf("pass %d is stored as %+v", i, stored)
		}
		seeds[stored.Seed] = true
		passes = append(passes, pass)
	}
	if len(seeds) != 5 {
		t.Errorf("%d seeds of 5 passes", len(seeds))
	}
	for _, item := range f.detector.items[1:] {
		if string(item.Prepared) != `{"words":3}` || item.Audio == nil || item.Transcript == nil || item.Turns != nil {
			t.Errorf("the detector was given %+v", item)
		}
	}
	calls := f.detector.calls
	f.detector.p = 0 // what is stored counts, not what the detector would say now
	for i, want := range passes {
		want.Made, want.Requests = false, 0
		if again := must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task, Index: i}); again != want {
			t.Errorf("again: %+v, want %+v", again, want)
		}
	}
	if f.detector.calls != calls {
		t.Errorf("%d further calls for stored passes", f.detector.calls-calls)
	}
}

// Each modality shows the detector its own input and nothing else, and asks
// under a key of its own.
func TestDetectPassByModality(t *testing.T) {
	keys := map[string]detect.Modality{}
	for _, modality := range []detect.Modality{detect.Audio, detect.Text, detect.ASR} {
		f := newFixture(t, func(s *evaluation.Spec) { s.Detection.Modality = modality })
		task := JudgeTask{Task: f.task}
		if modality != detect.Text {
			task = f.heard(t)
		}
		task.Modality = modality
		pass := must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task})
		keys[pass.Ref.Key] = modality
		item := f.detector.items[len(f.detector.items)-1]
		if (item.Audio != nil) != (modality == detect.Audio) ||
			(item.Turns != nil) != (modality == detect.Text) ||
			(item.Transcript != nil) != (modality != detect.Text) || item.Modality != modality {
			t.Errorf("%s: the detector was given %+v", modality, item)
		}
		question := get[evaluation.StoredPass](t, f.store, pass.Ref).Question
		want := evaluation.Question{Detector: standIn, Modality: modality, Input: task.Clip.SHA256, Words: task.Transcript.Key}
		if modality == detect.Text {
			want.Input = quarrel.TextHash()
		}
		if diff := cmp.Diff(want, question); diff != "" {
			t.Errorf("%s: question (-want +got):\n%s", modality, diff)
		}
		if item.Audio == nil {
			continue
		}
		if clip, err := item.Audio(t.Context()); err != nil || clip.Rate != 24000 {
			t.Errorf("the detector's clip: %d Hz, %v", clip.Rate, err)
		}
	}
	if len(keys) != 3 {
		t.Errorf("keys %v, want one a modality", keys)
	}
}

// Fresh passes are each evaluation's own.
func TestDetectPassFresh(t *testing.T) {
	f := newFixture(t, func(s *evaluation.Spec) { s.Detection.Passes = evaluation.PassesFresh })
	task := PassTask{JudgeTask: f.heard(t)}
	first := must[PassResult](t, f.detection.DetectPass, task)
	task.Task.Evaluation = "another"
	second := must[PassResult](t, f.detection.DetectPass, task)
	if !first.Made || !second.Made || first.Ref.Key == second.Ref.Key {
		t.Errorf("first %+v, another evaluation's %+v", first, second)
	}
}

func TestScoreTactics(t *testing.T) {
	f := newFixture(t, nil)
	task := f.heard(t)
	result := must[TacticsResult](t, f.detection.ScoreTactics, task)
	if !result.Made || len(result.Masses) != len(tactic.Options()) || result.Masses[0] != (vote.Mass{P: 100_000_000, Observed: true}) {
		t.Errorf("result %+v", result)
	}
	again := must[TacticsResult](t, f.detection.ScoreTactics, task)
	result.Made, result.Requests = false, 0
	if diff := cmp.Diff(result, again); diff != "" {
		t.Errorf("again (-want +got):\n%s", diff)
	}
}

func TestQuoteEvidence(t *testing.T) {
	f := newFixture(t, nil)
	task := f.heard(t)
	first := must[QuoteResult](t, f.detection.QuoteEvidence, QuoteTask{JudgeTask: task})
	f.detector.quote = ""
	retry := must[QuoteResult](t, f.detection.QuoteEvidence, QuoteTask{JudgeTask: task, Attempt: 1})
	named := must[QuoteResult](t, f.detection.QuoteEvidence, QuoteTask{JudgeTask: task, Tactic: tactic.Denial})
	if first.Empty || !retry.Empty || !named.Empty || !first.Made || !retry.Made || !named.Made {
		t.Errorf("first %+v, retry %+v, with a tactic %+v", first, retry, named)
	}
	if again := must[QuoteResult](t, f.detection.QuoteEvidence, QuoteTask{JudgeTask: task}); again.Made || again.Empty || again.Ref != first.Ref {
		t.Errorf("again %+v", again)
	}
}

func TestDetectionFailures(t *testing.T) {
	f := newFixture(t, nil)
	task := f.heard(t)
	f.detector.fail = &fault.Error{Kind: fault.Transient, Op: "ask", Code: "unreachable", Err: errors.New("reset")}
	for name, ask := range map[string]func() error{
		"pass": func() error {
			_, err := run[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task})
			return err
		},
		"tactics": func() error { _, err := run[TacticsResult](t, f.detection.ScoreTactics, task); return err },
		"quote": func() error {
			_, err := run[QuoteResult](t, f.detection.QuoteEvidence, QuoteTask{JudgeTask: task})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { failedWith(t, ask(), "unreachable", true) })
	}
	f.detector.fail = nil

	t.Run("what the passes share is gone", func(t *testing.T) {
		gone := task
		gone.Prepared.Key = "prepared/gone.json"
		_, err := run[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: gone, Index: 1})
		failedWith(t, err, "bad_input", false)
	})
	t.Run("a stored pass is no pass", func(t *testing.T) {
		pass := must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task, Index: 2})
		if _, err := objectstore.PutBytes(t.Context(), f.store, pass.Ref.Key, []byte("{"), objectstore.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := run[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task, Index: 2})
		failedWith(t, err, "bad_json", false)
	})
	t.Run("the transcript is corrupt", func(t *testing.T) {
		put(t, f.store, task.Transcript.Key, recognize.Transcript{})
		unprepared := task
		unprepared.Prepared = objectstore.Ref{}
		unprepared.Clip.SHA256 = "another" // so that it isn't answered from the store
		_, err := run[PreparedResult](t, f.detection.PrepareItem, unprepared)
		failedWith(t, err, CodeLost, false)
	})
}
