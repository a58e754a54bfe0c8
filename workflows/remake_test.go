package workflows

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

func lostObject(key string) error {
	return temporal.NewNonRetryableApplicationError("object "+key+": object not found", activities.CodeLost, nil)
}

// failOnce makes a step fail the first time.
func (f *fakes) failOnce(step string, err error) {
	f.fail[step] = err
	f.on[step] = func() {
		f.let(step, nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		// What was made is there the second time.
		for _, made := range []string{"SynthesizeTurn 0", "SynthesizeTurn 3", "RecognizeClip", "PrepareItem"} {
			f.stored[made] = slices.Contains(f.calls, made)
		}
	}
}

func TestLostIsMadeAgain(t *testing.T) {
	for _, test := range []struct {
		step   string
		stages []string
		usage  evaluation.Usage
	}{
		{
			"ComposeClip",
			[]string{
				"PlanDialogue", "SynthesizeTurn", "ComposeClip", "PlanDialogue", "SynthesizeTurn", "ComposeClip",
				"RecognizeClip", "MeasureClip", "PrepareItem", "DetectPass", "ScoreTactics", "QuoteEvidence", "SaveRecord",
			},
			evaluation.Usage{TurnsMade: 4, TurnsStored: 2, Characters: 40, ClipsMade: 1, Recognized: 1, PassesMade: 7, Questions: 8},
		},
		{
			"SaveRecord",
			[]string{
				"PlanDialogue", "SynthesizeTurn", "ComposeClip", "RecognizeClip", "MeasureClip", "PrepareItem", "DetectPass", "ScoreTactics", "QuoteEvidence", "SaveRecord",
				"PlanDialogue", "SynthesizeTurn", "ComposeClip", "RecognizeClip", "MeasureClip", "PrepareItem", "DetectPass", "ScoreTactics", "QuoteEvidence", "SaveRecord",
			},
			evaluation.Usage{TurnsMade: 4, TurnsStored: 2, Characters: 40, ClipsMade: 2, Recognized: 1, RecognizedStored: 1, PassesMade: 14, Questions: 15},
		},
	} {
		t.Run(test.step, func(t *testing.T) {
			f := newFakes()
			f.failOnce(test.step, lostObject("turns/1.wav"))
			result, err := evaluateDialogue(t, f)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.stages, f.stages()); diff != "" {
				t.Errorf("stages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.usage, result.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

// What stays lost ends the dialogue after one more try, and so does any other failure
// at once.
func TestLostForGood(t *testing.T) {
	f := newFakes()
	f.fail["DetectPass 1"] = lostObject("clips/exemplar.wav")
	_, err := evaluateDialogue(t, f)
	if err == nil || f.count("DetectPass 1") != 2 {
		t.Errorf("%d tries, %v", f.count("DetectPass 1"), err)
	}
	if failed := f.record(t).Failure; failed == nil || failed.Code != activities.CodeLost || failed.Stage != "making 5 passes" {
		t.Errorf("failure %+v", failed)
	}

	f = newFakes()
	f.fail["DetectPass 1"] = lostObject("clips/exemplar.wav")
	f.fail["DetectPass 2"] = temporal.NewNonRetryableApplicationError("no", "refused", nil)
	if _, err := evaluateDialogue(t, f); err == nil || f.count("DetectPass 1") != 1 {
		t.Errorf("%d tries beside another failure, %v", f.count("DetectPass 1"), err)
	}
}

// An exemplar's rendering makes again what is lost, too.
func TestLostExemplar(t *testing.T) {
	f := newFakes()
	f.failOnce("ComposeClip", lostObject("turns/1.wav"))
	env := environment(t, f)
	env.ExecuteWorkflow(RenderDialogue, task)
	if err := env.GetWorkflowError(); err != nil || f.count("ComposeClip") != 2 {
		t.Errorf("composed %d times, %v", f.count("ComposeClip"), err)
	}
}
