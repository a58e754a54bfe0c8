package workflows

import (
	"cmp"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/study"
)

// Assignment takes the judgments of one annotator's batch, as Updates: one that has
// completed is in the history, and is not lost. It ends when the annotator gives the
// batch back, at its deadline, or when the study stops it; then it stores the batch and
// tells the study.
func Assignment(ctx workflow.Context, sheet study.Sheet) error {
	a := assignment{sheet: sheet, stop: workflow.GetSignalChannel(ctx, study.SignalStop), pause: workflow.GetSignalChannel(ctx, study.SignalPause)}
	a.sheet.Open(workflow.Now(ctx))
	if err := a.handle(ctx); err != nil {
		return err
	}
	for a.how == "" {
		if historyIsLong(ctx) && workflow.AllHandlersFinished(ctx) && a.signals() == 0 {
			return workflow.NewContinueAsNewError(ctx, Assignment, a.sheet)
		}
		if err := a.wait(ctx); err != nil {
			if broken := a.end(ctx, study.Closed); broken != nil {
				return broken
			}
			return err
		}
	}
	return a.end(ctx, a.how)
}

type assignment struct {
	sheet       study.Sheet
	stop, pause workflow.ReceiveChannel
	how         study.How // "" while it goes on
	erase       bool
}

// handle registers what the page asks. What is refused leaves nothing in the history.
func (a *assignment) handle(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, study.QueryAssignment, func() (study.Progress, error) { return a.progress(), nil }); err != nil {
		return err
	}
	judge := func(ctx workflow.Context, j study.Judge) (study.Receipt, error) {
		a.sheet.Judge(j.Judgment, workflow.Now(ctx))
		return a.sheet.Receipt(), nil
	}
	checkJudge := func(_ workflow.Context, j study.Judge) error {
		return cmp.Or(a.ended(), a.sheet.Check(j))
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, study.UpdateJudge, judge, workflow.UpdateHandlerOptions{Validator: checkJudge}); err != nil {
		return err
	}
	finish := func(workflow.Context) (study.Receipt, error) {
		a.how = study.Finished
		return a.sheet.Receipt(), nil
	}
	checkFinish := func(workflow.Context) error { return cmp.Or(a.ended(), a.sheet.CheckFinish()) }
	return workflow.SetUpdateHandlerWithOptions(ctx, study.UpdateFinish, finish, workflow.UpdateHandlerOptions{Validator: checkFinish})
}

func (a *assignment) ended() error {
	if a.how != "" {
		return fmt.Errorf("this batch has ended: %s", a.how)
	}
	return nil
}

func (a *assignment) progress() study.Progress {
	p := a.sheet.Progress()
	p.Finished = a.how != ""
	return p
}

func (a *assignment) signals() int { return a.stop.Len() + a.pause.Len() }

// wait waits until something happens or is due, and acts on it. A judgment moves the
// next reminder; that is found out when the earlier one is due, as a timer for each
// judgment would double the history.
func (a *assignment) wait(ctx workflow.Context) error {
	happened := func() bool {
		return a.how != "" || a.signals() > 0 || historyIsLong(ctx) && workflow.AllHandlersFinished(ctx)
	}
	now := workflow.Now(ctx)
	if next := a.sheet.Next(); next.IsZero() {
		if err := workflow.Await(ctx, happened); err != nil {
			return err
		}
	} else if _, err := workflow.AwaitWithTimeout(ctx, max(next.Sub(now), time.Millisecond), happened); err != nil {
		return err
	}
	a.receive(workflow.Now(ctx))
	if a.how == "" && a.sheet.Due(workflow.Now(ctx)) {
		a.how = study.Expired
	}
	return nil
}

func (a *assignment) receive(now time.Time) {
	var pause bool
	for a.pause.ReceiveAsync(&pause) {
		a.sheet.Pause(pause, now)
	}
	var stop study.Stop
	for a.stop.ReceiveAsync(&stop) {
		if a.how == "" {
			a.how = stop.How
		}
		a.erase = a.erase || stop.Erase
	}
}

// end stores the batch and tells the study, also where the assignment was cancelled.
func (a *assignment) end(ctx workflow.Context, how study.How) error {
	a.how = how
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	batch := a.sheet.Batch(how, workflow.Now(ctx))
	if !a.erase {
		err := untilSaved(ctx, func() workflow.Future {
			return workflow.ExecuteActivity(mainOptions(ctx, "save the batch"), (*activities.Studies)(nil).SaveBatch, batch)
		})
		if err != nil {
			return err
		}
	}
	// A study that has ended needs no more.
	_ = workflow.SignalExternalWorkflow(ctx, study.WorkflowID(batch.Study), "", study.SignalDone, a.sheet.Done(batch)).Get(ctx, nil)
	return workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}

// assignmentOptions are for a batch of a study: it outlives the runs of the study, which
// is told by signal.
func assignmentOptions(ctx workflow.Context, id string, a study.Assignment) workflow.Context {
	return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            study.AssignmentWorkflowID(id, a),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		StaticSummary:         fmt.Sprintf("%s of %s: %d items", a.Part(), a.Annotator, len(a.Items)),
	})
}

// saveAgain is how long what people gave waits where it can't be stored: again and
// again, as nothing else has it.
const saveAgain = 5 * time.Minute

// untilSaved tries until something is stored, and ends only with the workflow.
func untilSaved(ctx workflow.Context, save func() workflow.Future) error {
	for save().Get(ctx, nil) != nil {
		if err := workflow.Sleep(ctx, saveAgain); err != nil {
			return err
		}
	}
	return nil
}
