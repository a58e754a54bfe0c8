//go:build integration && linux

package workflows

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/study"
)

func (f *fakes) SaveBatch(context.Context, study.Batch) (objectstore.Ref, error) {
	return ref("batch"), nil
}

func (f *fakes) SaveState(context.Context, study.State) (objectstore.Ref, error) {
	return ref("state"), nil
}

// TestRecordStudyHistories records studies as TestRecordHistories does evaluations, with
// the same flag.
func TestRecordStudyHistories(t *testing.T) {
	r := newRecorder(t)
	folder := t.TempDir()
	if *record {
		folder = histories
	}
	r.recordLedStudy(t, folder)
	r.recordCancelledStudy(t, folder)

	late := sheet()
	late.Study, late.Rules.RemindAfter, late.Rules.Deadline = "ended", time.Second, 3*time.Second
	if err := r.run(t, "study/ended/A01/text-03", Assignment, late); err != nil {
		t.Errorf("the late batch ended with %v", err)
	}
	r.save(t, folder, "assignment-expired", "study/ended/A01/text-03")
	r.replay(t, folder)
}

// recordLedStudy is a study that stands still for a while, loses and gains an annotator,
// and has ties to adjudicate.
func (r *recorder) recordLedStudy(t *testing.T, folder string) {
	t.Helper()
	id := study.WorkflowID("s")
	run, err := r.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: evaluation.QueueMain}, Study, stateOf(t, 4, 5, 2))
	if err != nil {
		t.Fatal(err)
	}
	first := r.opened(t, "s", "A01").Workflow
	r.update(t, id, true, study.UpdatePause, true)
	r.update(t, id, true, study.UpdatePause, false)
	r.update(t, id, false, study.UpdateRemove, study.Remove{Annotator: "A77"})
	r.update(t, id, true, study.UpdateRemove, study.Remove{Annotator: "A02"})
	r.update(t, id, true, study.UpdateAdd, "A09")
	for done := false; !done; {
		done = true
		for i, name := range []string{"A01", "A03", "A04", "A05", "A09"} {
			desk := r.desk(t, "s", name)
			done = done && desk.Stage == study.Complete
			if desk.Open != nil {
				r.judgeAll(t, desk, []annotation.Label{annotation.Yes, annotation.No}[i%2])
			} else {
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	if err := run.Get(t.Context(), nil); err != nil {
		t.Errorf("the study ended with %v", err)
	}
	r.save(t, folder, "study-completed", id)
	r.save(t, folder, "assignment-finished", first)
}

// judgeAll judges a batch as a person might: not allowed, twice, and otherwise.
func (r *recorder) judgeAll(t *testing.T, desk study.Desk, label annotation.Label) {
	t.Helper()
	var progress study.Progress
	value, err := r.client.QueryWorkflow(t.Context(), desk.Workflow, "", study.QueryAssignment)
	if err == nil {
		err = value.Get(&progress)
	}
	if err != nil {
		t.Fatal(err)
	}
	if progress.Finished {
		return // the study has not been told yet
	}
	judge := study.Judge{Annotator: desk.Annotator, Modality: desk.Open.Modality}
	for _, item := range desk.Open.Items {
		judge.Judgment = study.Judgment{Item: item, Label: annotation.No, Millis: 4000}
		r.update(t, desk.Workflow, true, study.UpdateJudge, judge)
		judge.Label = label
		r.update(t, desk.Workflow, true, study.UpdateJudge, judge)
	}
	judge.Item = 99
	r.update(t, desk.Workflow, false, study.UpdateJudge, judge)
	r.update(t, desk.Workflow, true, study.UpdateFinish)
}

func (r *recorder) recordCancelledStudy(t *testing.T, folder string) {
	t.Helper()
	state := stateOf(t, 2, 2, 2)
	state.ID = "cancelled"
	id := study.WorkflowID("cancelled")
	run, err := r.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: evaluation.QueueMain}, Study, state)
	if err != nil {
		t.Fatal(err)
	}
	open := r.opened(t, "cancelled", "A01").Workflow
	r.cancel(t, id)
	if err := run.Get(t.Context(), nil); !temporal.IsCanceledError(err) {
		t.Errorf("the cancelled study ended with %v", err)
	}
	if err := r.client.GetWorkflow(t.Context(), open, "").Get(t.Context(), nil); !temporal.IsCanceledError(err) {
		t.Errorf("its open batch ended with %v", err)
	}
	r.save(t, folder, "study-cancelled", id)
	r.save(t, folder, "assignment-cancelled", open)
}

// opened waits until an annotator has something to do.
func (r *recorder) opened(t *testing.T, id, name string) study.Desk {
	t.Helper()
	for range 200 {
		if desk := r.desk(t, id, name); desk.Open != nil {
			return desk
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s has nothing to do", name)
	return study.Desk{}
}

func (r *recorder) desk(t *testing.T, id, name string) study.Desk {
	t.Helper()
	var desk study.Desk
	value, err := r.client.QueryWorkflow(t.Context(), study.WorkflowID(id), "", study.QueryDesk, name)
	if err == nil {
		err = value.Get(&desk)
	}
	if err != nil {
		t.Fatal(err)
	}
	return desk
}

func (r *recorder) update(t *testing.T, id string, taken bool, name string, args ...any) {
	t.Helper()
	handle, err := r.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(t.Context(), nil)
	}
	if (err == nil) != taken {
		t.Errorf("%s %v of %s: %v", name, args, id, err)
	}
}
