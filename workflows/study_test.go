package workflows

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/study"
)

// stateOf is a study of items in text, each its own batch with votes annotators.
func stateOf(t *testing.T, items, annotators, votes int) study.State {
	t.Helper()
	plan := study.Plan{Modalities: []annotation.Modality{annotation.Text}, Batches: items, MinVotes: votes, Repeat: study.SameItems, Seed: 1}
	s := study.Study{ID: "s", Rules: study.DefaultRules()}
	s.Rules.MinVotes = votes
	for i := range items {
		truth := []dialogue.Truth{dialogue.Yes, dialogue.No}[i%2]
		plan.Truths = append(plan.Truths, truth)
		s.Items = append(s.Items, study.Item{ID: fmt.Sprint("i", i), Truth: truth})
	}
	for i := range annotators {
		plan.Annotators = append(plan.Annotators, fmt.Sprintf("A%02d", i+1))
	}
	var err error
	if s.Design, err = study.New(plan); err != nil {
		t.Fatal(err)
	}
	return study.NewState(s)
}

// crowd are annotators who judge what they are given a minute after it is opened.
type crowd struct {
	fakeStudies
	env    *testsuite.TestWorkflowEnvironment
	answer func(annotator string, item int) annotation.Label // "" leaves the batch open
	opened []string
	sent   int
}

func newCrowd(t *testing.T, answer func(string, int) annotation.Label) *crowd {
	c := &crowd{answer: answer}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	c.env = suite.NewTestWorkflowEnvironment()
	c.env.RegisterWorkflow(Study)
	c.env.RegisterWorkflow(Assignment)
	c.env.RegisterActivity(&c.fakeStudies)
	c.env.SetTestTimeout(time.Minute)
	c.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "study/s"})
	c.env.SetOnChildWorkflowStartedListener(func(info *workflow.Info, _ workflow.Context, args converter.EncodedValues) {
		var sheet study.Sheet
		if err := args.Get(&sheet); err != nil {
			t.Error(err)
		}
		id := info.WorkflowExecution.ID
		c.opened = append(c.opened, id)
		c.env.RegisterDelayedCallback(func() { c.judge(t, id, sheet.Assignment) }, time.Minute)
	})
	return c
}

func (c *crowd) judge(t *testing.T, id string, a study.Assignment) {
	send := func(name string, args ...any) {
		c.sent++ // an Update of the same id would be the same Update
		if err := c.env.UpdateWorkflowByID(id, name, fmt.Sprint("sent ", c.sent), &testsuite.TestUpdateCallback{
			OnAccept: func() {}, OnReject: func(err error) { t.Errorf("%s: %v", id, err) },
			OnComplete: func(_ any, err error) {
				if err != nil {
					t.Errorf("%s: %v", id, err)
				}
			},
		}, args...); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, item := range a.Items {
		label := c.answer(a.Annotator, item)
		if label == "" {
			return
		}
		send(study.UpdateJudge, study.Judge{Annotator: a.Annotator, Modality: a.Modality, Judgment: study.Judgment{Item: item, Label: label, Heard: true, Millis: 20_000}})
	}
	send(study.UpdateFinish)
}

func (c *crowd) status(t *testing.T) study.Status {
	t.Helper()
	var status study.Status
	value, err := c.env.QueryWorkflow(study.QueryStatus)
	if err == nil {
		err = value.Get(&status)
	}
	if err != nil {
		t.Error(err)
	}
	return status
}

func TestStudy(t *testing.T) {
	// Half of the annotators say YES: where votes are two, ties are common.
	c := newCrowd(t, func(annotator string, item int) annotation.Label {
		if (int(annotator[2])+item)%2 == 0 {
			return annotation.Yes
		}
		return annotation.No
	})
	c.env.ExecuteWorkflow(Study, stateOf(t, 6, 6, 2))
	if err := c.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	var status study.Status
	if err := c.env.GetWorkflowResult(&status); err != nil {
		t.Fatal(err)
	}
	m := status.Modalities[0]
	if status.Stage != study.Complete || m.Closed != 6 || m.Yes+m.No != 6 || m.Adjudicated[study.Adjudicated] == 0 || status.Round == 0 {
		t.Errorf("%+v", status)
	}
	if len(c.states) != 1 || c.states[0].Stage != study.Complete {
		t.Errorf("%d states saved", len(c.states))
	}
	if len(c.batches) != len(c.opened) || len(c.batches) <= 12 {
		t.Errorf("%d batches saved, %d opened, want more than the design's 12", len(c.batches), len(c.opened))
	}
}

func TestStudyIsLed(t *testing.T) {
	c := newCrowd(t, func(annotator string, _ int) annotation.Label {
		if annotator == "A02" {
			return "" // never comes
		}
		return annotation.Yes
	})
	update(t, c.env, time.Hour, study.UpdatePause, "", true)
	c.env.RegisterDelayedCallback(func() {
		if status := c.status(t); !status.Paused || status.Stage != study.Judging {
			t.Errorf("%+v", status)
		}
		if err := c.env.UpdateWorkflowByID("study/s/A02/"+part(t, c, "A02"), study.UpdateJudge, "while paused", &testsuite.TestUpdateCallback{
			OnAccept:   func() { t.Error("a judgment is taken while the study is paused") },
			OnReject:   func(error) {},
			OnComplete: func(any, error) {},
		}, judgmentOf(0, annotation.Yes)); err != nil {
			t.Error(err)
		}
	}, 2*time.Hour)
	update(t, c.env, 3*time.Hour, study.UpdatePause, "", false)
	update(t, c.env, 4*time.Hour, study.UpdateAdd, "is or was an annotator", "A02")
	update(t, c.env, 5*time.Hour, study.UpdateRemove, "is no annotator", study.Remove{Annotator: "A77"})
	update(t, c.env, 6*time.Hour, study.UpdateClose, "the study is judging", study.Adjudicating)
	update(t, c.env, 7*time.Hour, study.UpdateRemove, "", study.Remove{Annotator: "A02"})
	c.env.RegisterDelayedCallback(func() {
		if status := c.status(t); status.Stage != study.Judging || status.Modalities[0].Short == 0 || status.Annotators[0].Open != nil {
			t.Errorf("%+v", status)
		}
	}, 8*time.Hour)
	update(t, c.env, 9*time.Hour, study.UpdateAdd, "", "A09")
	c.env.ExecuteWorkflow(Study, stateOf(t, 3, 3, 3))
	if err := c.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	var status study.Status
	if err := c.env.GetWorkflowResult(&status); err != nil {
		t.Fatal(err)
	}
	if m := status.Modalities[0]; status.Stage != study.Complete || m.Yes != 3 || m.Short != 0 {
		t.Errorf("%+v", status)
	}
}

// part is the name of an annotator's open assignment.
func part(t *testing.T, c *crowd, annotator string) string {
	t.Helper()
	for _, a := range c.status(t).Annotators {
		if a.Annotator == annotator && a.Open != nil {
			return a.Open.Part()
		}
	}
	t.Errorf("%s has nothing open", annotator)
	return ""
}

func TestStudyIsClosed(t *testing.T) {
	c := newCrowd(t, func(string, int) annotation.Label { return "" })
	update(t, c.env, time.Hour, study.UpdateClose, "", study.Judging)
	update(t, c.env, 2*time.Hour, study.UpdateClose, "", study.Adjudicating)
	c.env.ExecuteWorkflow(Study, stateOf(t, 2, 5, 3))
	if err := c.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	var status study.Status
	if err := c.env.GetWorkflowResult(&status); err != nil {
		t.Fatal(err)
	}
	if m := status.Modalities[0]; status.Stage != study.Complete || m.Adjudicated[study.Unresolvable] != 2 {
		t.Errorf("%+v", status)
	}
}

// An assignment that was terminated by hand doesn't hold the study up when it is closed.
func TestStudyOutlivesATerminatedAssignment(t *testing.T) {
	state := stateOf(t, 1, 1, 1)
	state.Advance() // open, and nobody runs it
	c := newCrowd(t, func(string, int) annotation.Label { return "" })
	c.env.OnSignalExternalWorkflow("default-test-namespace", "study/s/A01/text-00", "", study.SignalStop, anything).Return(errors.New("not found")).Once()
	update(t, c.env, time.Hour, study.UpdateClose, "", study.Judging)
	update(t, c.env, 2*time.Hour, study.UpdateClose, "", study.Adjudicating)
	c.env.ExecuteWorkflow(Study, state)
	if err := c.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
}

func TestStudyIsCancelled(t *testing.T) {
	c := newCrowd(t, func(string, int) annotation.Label { return "" })
	state := stateOf(t, 2, 2, 2)
	for _, number := range state.Advance() { // of an earlier run
		id := study.AssignmentWorkflowID("s", state.Assignments[number].Assignment)
		c.env.OnRequestCancelExternalWorkflow("default-test-namespace", id, "").Return(nil).Once()
	}
	c.env.RegisterDelayedCallback(c.env.CancelWorkflow, time.Hour)
	c.env.ExecuteWorkflow(Study, state)
	if err := c.env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Errorf("ended with %v", err)
	}
	c.env.AssertExpectations(t)
	if len(c.states) != 1 {
		t.Errorf("%d states saved", len(c.states))
	}
}

func TestStudyContinuesAsNew(t *testing.T) {
	c := newCrowd(t, func(string, int) annotation.Label { return annotation.Yes })
	c.env.RegisterDelayedCallback(func() { c.env.SetCurrentHistoryLength(maxEvents + 1) }, time.Second)
	c.env.ExecuteWorkflow(Study, stateOf(t, 2, 2, 2))
	var next *workflow.ContinueAsNewError
	if err := c.env.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("ended with %v", err)
	}
	var state study.State
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &state); err != nil {
		t.Fatal(err)
	}
	open, ended := 0, 0
	for _, e := range state.Assignments {
		switch e.Status {
		case study.Open:
			open++
		case study.Ended:
			ended++
		}
	}
	if open == 0 || ended == 0 || len(state.Assignments) != 4 {
		t.Errorf("carried on %+v", state.Assignments)
	}
}
