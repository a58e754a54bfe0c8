package workflows

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// variants answers for the activity, by its registered name.
type variants struct {
	mu     sync.Mutex
	asked  [][2]int // variation, item
	answer func(activities.VariantTask) (activities.VariantResult, error)
}

func (v *variants) AskVariant(_ context.Context, task activities.VariantTask) (activities.VariantResult, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = append(v.asked, [2]int{task.Variation, task.Item})
	return v.answer(task)
}

func measure(t *testing.T, v *variants, in SensitivityInput) (SensitivityResult, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(v)
	env.ExecuteWorkflow(Sensitivity, in)
	var out SensitivityResult
	return out, errors.Join(env.GetWorkflowError(), env.GetWorkflowResult(&out))
}

func TestSensitivity(t *testing.T) {
	const items = 2*sensitivityWidth + 1
	v := &variants{answer: func(task activities.VariantTask) (activities.VariantResult, error) {
		if task.Variation == 1 && task.Item == 3 {
			return activities.VariantResult{}, temporal.NewNonRetryableApplicationError("the clip is too long", "clip_too_long", nil)
		}
		answer := evaluation.Variant{Vote: vote.VoteYes, PYes: vote.Mass{P: vote.Nano(task.Item), Observed: true}, Method: "greedy"}
		if task.Variation == 1 {
			answer.Vote = vote.VoteNo
		}
		return activities.VariantResult{Variant: answer, Made: task.Item%2 == 0}, nil
	}}
	in := SensitivityInput{Sensitivity: ref("s"), Items: items, Variations: []string{"own", "other"}, DetectQueue: "detect-cpu-x"}
	got, err := measure(t, v, in)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Answers) != 2 || len(got.Answers[0]) != items || len(got.Answers[1]) != items || got.Made != 2*(sensitivityWidth+1) {
		t.Fatalf("%d made, %+v", got.Made, got.Answers)
	}
	for i := range items {
		own, other := got.Answers[0][i], got.Answers[1][i]
		if own.Vote != vote.VoteYes || own.PYes.P != vote.Nano(i) {
			t.Errorf("item %d: %+v", i, own)
		}
		want := SensitivityAnswer{Variant: evaluation.Variant{Vote: vote.VoteNo, PYes: own.PYes, Method: "greedy"}}
		if i == 3 {
			want = SensitivityAnswer{Failure: "the clip is too long"}
		}
		if diff := cmp.Diff(want, other); diff != "" {
			t.Errorf("item %d (-want +got):\n%s", i, diff)
		}
	}
	// One variation after the other: workers keep few detectors.
	for i, asked := range v.asked {
		if asked[0] != i/items {
			t.Errorf("question %d is of variation %d", i, asked[0])
		}
	}
}

// What only a person can help ends it at once: the next try goes on from the store.
func TestSensitivityStops(t *testing.T) {
	v := &variants{answer: func(activities.VariantTask) (activities.VariantResult, error) {
		reason := evaluation.Reason{Code: "bad_key", Message: "the key is refused: set another"}
		return activities.VariantResult{}, temporal.NewNonRetryableApplicationError("x", reason.Code, nil, reason)
	}}
	in := SensitivityInput{Items: 100, Variations: []string{"own", "other"}, DetectQueue: "detect-cpu-x"}
	_, err := measure(t, v, in)
	if err == nil || !strings.Contains(err.Error(), "the key is refused: set another") || len(v.asked) != sensitivityWidth {
		t.Errorf("%v after %d questions", err, len(v.asked))
	}
}

func TestSensitivityIsBounded(t *testing.T) {
	v := &variants{}
	_, err := measure(t, v, SensitivityInput{Items: 251, Variations: []string{"own", "other"}})
	if err == nil || !strings.Contains(err.Error(), "502 questions are more than 500") || len(v.asked) != 0 {
		t.Errorf("%v after %d questions", err, len(v.asked))
	}
}
