package workflows

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/study"
)

// fakeStudies stands for activities.Studies.
type fakeStudies struct {
	batches []study.Batch
	states  []study.State
	fail    []error // of the first calls
}

func (f *fakeStudies) SaveBatch(_ context.Context, b study.Batch) (objectstore.Ref, error) {
	if len(f.fail) > 0 {
		err := f.fail[0]
		f.fail = f.fail[1:]
		return objectstore.Ref{}, err
	}
	f.batches = append(f.batches, b)
	return ref("batch"), nil
}

func (f *fakeStudies) SaveState(_ context.Context, state study.State) (objectstore.Ref, error) {
	f.states = append(f.states, state)
	return ref("state"), nil
}

// anything matches any argument of a mocked call.
const anything = "mock.Anything"

func assignmentEnvironment(f *fakeStudies) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflow(Assignment)
	env.RegisterActivity(f)
	env.SetTestTimeout(time.Minute)
	return env
}

// tells has the study be told of an assignment's end.
func tells(env *testsuite.TestWorkflowEnvironment) {
	env.OnSignalExternalWorkflow("default-test-namespace", "study/s", "", study.SignalDone, anything).Return(nil).Once()
}

func sheet() study.Sheet {
	a := study.Assignment{Annotator: "A01", Modality: annotation.Text, Batch: 3, Items: []int{4, 1}}
	return study.Sheet{Study: "s", Number: 2, Assignment: a, Rules: study.DefaultRules()}
}

func judgmentOf(item int, label annotation.Label) study.Judge {
	return study.Judge{Annotator: "A01", Modality: annotation.Text, Judgment: study.Judgment{Item: item, Label: label, Millis: 5000}}
}

// update sends an Update after a while, and checks how it is answered: want is what
// the refusal says, "" that it is taken.
func update(t *testing.T, env *testsuite.TestWorkflowEnvironment, after time.Duration, name string, want string, args ...any) {
	env.RegisterDelayedCallback(func() {
		answer := func(_ any, err error) {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s %+v: %v, want %q", name, args, err, want)
			}
		}
		env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
			OnAccept: func() {}, OnReject: func(err error) { answer(nil, err) }, OnComplete: answer,
		}, args...)
	}, after)
}

func TestAssignment(t *testing.T) {
	f := &fakeStudies{fail: []error{temporal.NewNonRetryableApplicationError("the store is away", "x", nil)}}
	env := assignmentEnvironment(f)
	tells(env)
	began := env.Now()
	update(t, env, time.Minute, study.UpdateJudge, "", judgmentOf(4, annotation.Yes))
	update(t, env, 2*time.Minute, study.UpdateJudge, "", judgmentOf(4, annotation.Yes)) // sent again
	update(t, env, 3*time.Minute, study.UpdateJudge, "item 7 is not in this", judgmentOf(7, annotation.Yes))
	update(t, env, 4*time.Minute, study.UpdateFinish, "1 of 2 items have no judgment")
	update(t, env, 5*time.Minute, study.UpdateJudge, "", judgmentOf(1, annotation.No))
	update(t, env, 6*time.Minute, study.UpdateJudge, "", judgmentOf(4, annotation.No)) // another answer
	env.RegisterDelayedCallback(func() {
		var p study.Progress
		value, err := env.QueryWorkflow(study.QueryAssignment)
		if err != nil || value.Get(&p) != nil || len(p.Judgments) != 2 || p.Judgments[0].Changes != 1 || p.Finished || !p.Deadline.Equal(began.Add(14*24*time.Hour)) {
			t.Errorf("%+v, %v", p, err)
		}
	}, 7*time.Minute)
	update(t, env, 8*time.Minute, study.UpdateFinish, "")
	update(t, env, 9*time.Minute, study.UpdateJudge, "this batch has ended: finished", judgmentOf(1, annotation.Yes))
	env.ExecuteWorkflow(Assignment, sheet())
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	env.AssertExpectations(t)
	if len(f.batches) != 1 || f.batches[0].How != study.Finished || study.Labels(f.batches[0].Assignment, f.batches[0].Judgments) != "NN" || len(f.batches[0].Flags) != 0 {
		t.Errorf("saved %+v", f.batches)
	}
}

func TestAssignmentExpires(t *testing.T) {
	f := &fakeStudies{}
	env := assignmentEnvironment(f)
	tells(env)
	began := env.Now()
	update(t, env, 24*time.Hour, study.UpdateJudge, "", judgmentOf(1, annotation.Yes))
	env.RegisterDelayedCallback(func() {
		var p study.Progress
		value, err := env.QueryWorkflow(study.QueryAssignment)
		if err != nil || value.Get(&p) != nil || !p.Reminder.Equal(began.Add(4*24*time.Hour)) {
			t.Errorf("%+v, %v", p, err)
		}
	}, 4*24*time.Hour+time.Minute)
	// A pause of a day moves the deadline by a day.
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(study.SignalPause, true) }, 5*24*time.Hour)
	update(t, env, 5*24*time.Hour+time.Hour, study.UpdateJudge, "the study is paused", judgmentOf(4, annotation.Yes))
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(study.SignalPause, false) }, 6*24*time.Hour)
	env.ExecuteWorkflow(Assignment, sheet())
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	env.AssertExpectations(t)
	if ran := env.Now().Sub(began); ran != 15*24*time.Hour {
		t.Errorf("ran %s", ran)
	}
	if len(f.batches) != 1 || f.batches[0].How != study.Expired || len(f.batches[0].Judgments) != 1 || f.batches[0].Flags[0].Code != study.FlagIncomplete {
		t.Errorf("saved %+v", f.batches)
	}
}

func TestAssignmentIsStopped(t *testing.T) {
	for name, stop := range map[string]study.Stop{"closed": {How: study.Closed}, "erased": {How: study.Removed, Erase: true}} {
		t.Run(name, func(t *testing.T) {
			f := &fakeStudies{}
			env := assignmentEnvironment(f)
			tells(env)
			update(t, env, time.Minute, study.UpdateJudge, "", judgmentOf(1, annotation.Yes))
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(study.SignalStop, stop) }, time.Hour)
			env.ExecuteWorkflow(Assignment, sheet())
			if err := env.GetWorkflowError(); err != nil {
				t.Fatal(err)
			}
			env.AssertExpectations(t)
			if want := map[bool]int{true: 0, false: 1}[stop.Erase]; len(f.batches) != want {
				t.Errorf("saved %+v", f.batches)
			}
		})
	}
}

// Cancelled, it keeps what it has.
func TestAssignmentIsCancelled(t *testing.T) {
	f := &fakeStudies{}
	env := assignmentEnvironment(f)
	tells(env)
	update(t, env, time.Minute, study.UpdateJudge, "", judgmentOf(1, annotation.Yes))
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	env.ExecuteWorkflow(Assignment, sheet())
	if err := env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Errorf("ended with %v", err)
	}
	if len(f.batches) != 1 || f.batches[0].How != study.Closed || len(f.batches[0].Judgments) != 1 {
		t.Errorf("saved %+v", f.batches)
	}
}

func TestAssignmentContinuesAsNew(t *testing.T) {
	f := &fakeStudies{}
	env := assignmentEnvironment(f)
	update(t, env, time.Minute, study.UpdateJudge, "", judgmentOf(1, annotation.Yes))
	env.RegisterDelayedCallback(func() { env.SetCurrentHistoryLength(maxEvents + 1) }, time.Hour)
	// What wakes it; the judgment itself is left to the next run.
	update(t, env, 2*time.Hour, study.UpdateJudge, "", judgmentOf(1, annotation.No))
	env.ExecuteWorkflow(Assignment, sheet())
	var next *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("ended with %v", err)
	}
	var carried study.Sheet
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &carried); err != nil {
		t.Fatal(err)
	}
	then := assignmentEnvironment(f)
	then.SetStartTime(carried.Opened.Add(3 * time.Hour))
	tells(then)
	update(t, then, time.Minute, study.UpdateJudge, "", judgmentOf(4, annotation.Yes))
	update(t, then, time.Minute, study.UpdateJudge, "", judgmentOf(1, annotation.No))
	update(t, then, 2*time.Minute, study.UpdateFinish, "")
	then.ExecuteWorkflow(Assignment, carried)
	if err := then.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if len(f.batches) != 1 || study.Labels(f.batches[0].Assignment, f.batches[0].Judgments) != "YN" || f.batches[0].Judgments[1].Changes != 1 || !f.batches[0].Opened.Equal(carried.Opened) {
		t.Errorf("saved %+v", f.batches)
	}
}
