package workflows

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/study"
)

// Study runs an annotation study to its end: it opens each annotator's batches one
// after the other, closes items, and has ties adjudicated. What comes next is decided
// by study.State; here is how it is done.
func Study(ctx workflow.Context, state study.State) (study.Status, error) {
	s := studyRun{state: state, changed: true, told: state.Paused, done: workflow.GetSignalChannel(ctx, study.SignalDone)}
	if err := s.handle(ctx); err != nil {
		return study.Status{}, err
	}
	for {
		if err := s.step(ctx); err != nil {
			return s.state.Status(), s.cancel(ctx, err)
		}
		workflow.SetCurrentDetails(ctx, studyDetails(s.state.Status()))
		idle := !s.changed && s.done.Len() == 0 && workflow.AllHandlersFinished(ctx)
		if idle && s.state.Stage == study.Complete {
			return s.state.Status(), s.save(ctx)
		}
		if idle && historyIsLong(ctx) {
			return study.Status{}, workflow.NewContinueAsNewError(ctx, Study, s.state)
		}
		err := workflow.Await(ctx, func() bool {
			return s.changed || s.done.Len() > 0 || s.state.Stage == study.Complete && workflow.AllHandlersFinished(ctx)
		})
		if err != nil {
			return s.state.Status(), s.cancel(ctx, err)
		}
	}
}

type studyRun struct {
	state   study.State
	done    workflow.ReceiveChannel
	changed bool // by an Update, or not looked at yet
	stops   []stopping
	opening []string // workflows of assignments that are about to run
	told    bool     // what open assignments were told of State.Paused
}

// stopping is an assignment to be stopped.
type stopping struct {
	number int
	stop   study.Stop
}

// handle registers what the leader may ask and change. An Update changes the state; what
// follows from that is the next step's.
func (s *studyRun) handle(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, study.QueryStatus, func() (study.Status, error) { return s.status(), nil }); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, study.QueryState, func() (study.State, error) { return s.state, nil }); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, study.QueryDesk, func(name string) (study.Desk, error) { return s.shown(s.state.Desk(name)), nil }); err != nil {
		return err
	}
	add := func(_ workflow.Context, name string) (study.Desk, error) {
		err := s.state.Add(name)
		s.changed = true
		return s.state.Desk(name), err
	}
	remove := func(_ workflow.Context, r study.Remove) (study.Desk, error) {
		open, err := s.state.Remove(r)
		s.stop(open, study.Stop{How: study.Removed, Erase: r.Erase})
		return s.state.Desk(r.Annotator), err
	}
	pause := func(_ workflow.Context, paused bool) error {
		s.state.Paused, s.changed = paused, true
		return nil
	}
	closeStage := func(_ workflow.Context, stage study.Stage) error {
		open, err := s.state.Close(stage)
		s.stop(open, study.Stop{How: study.Closed})
		return err
	}
	return errors.Join(
		workflow.SetUpdateHandler(ctx, study.UpdateAdd, add),
		workflow.SetUpdateHandler(ctx, study.UpdateRemove, remove),
		workflow.SetUpdateHandler(ctx, study.UpdatePause, pause),
		workflow.SetUpdateHandler(ctx, study.UpdateClose, closeStage),
	)
}

func (s *studyRun) stop(numbers []int, stop study.Stop) {
	for _, number := range numbers {
		s.stops = append(s.stops, stopping{number, stop})
	}
	s.changed = true
}

// step does all that has to be done now.
func (s *studyRun) step(ctx workflow.Context) error {
	for s.changed || s.done.Len() > 0 {
		s.changed = false
		s.receive()
		if err := s.open(ctx, s.state.Advance()); err != nil {
			return err
		}
		stops := s.stops
		s.stops = nil
		for _, stop := range stops {
			s.tellStop(ctx, stop)
		}
		s.tellPause(ctx)
	}
	return nil
}

func (s *studyRun) receive() {
	var done study.Done
	for s.done.ReceiveAsync(&done) {
		s.state.Done(done)
	}
}

// open starts assignments side by side.
func (s *studyRun) open(ctx workflow.Context, numbers []int) error {
	var started []workflow.Future
	defer func() { s.opening = nil }()
	for _, number := range numbers {
		sheet := s.state.Sheet(number, workflow.Now(ctx))
		s.opening = append(s.opening, study.AssignmentWorkflowID(s.state.ID, sheet.Assignment))
		child := workflow.ExecuteChildWorkflow(assignmentOptions(ctx, s.state.ID, sheet.Assignment), Assignment, sheet)
		started = append(started, child.GetChildWorkflowExecution())
	}
	for i, future := range started {
		if err := future.Get(ctx, nil); err != nil {
			return fmt.Errorf("open assignment %s: %w", s.state.Assignments[numbers[i]].Part(), err)
		}
	}
	return nil
}

// shown leaves out of a desk what can't be worked on yet.
func (s *studyRun) shown(desk study.Desk) study.Desk {
	if desk.Open != nil && slices.Contains(s.opening, desk.Workflow) {
		desk.Open, desk.Workflow, desk.Waiting = nil, "", desk.Waiting+1
	}
	return desk
}

func (s *studyRun) status() study.Status {
	status := s.state.Status()
	for i := range status.Annotators {
		status.Annotators[i].Desk = s.shown(status.Annotators[i].Desk)
	}
	return status
}

// tellStop stops an assignment. One that doesn't run any more, and has told nothing,
// was ended by somebody's hand: it gives nothing.
func (s *studyRun) tellStop(ctx workflow.Context, stop stopping) {
	e := s.state.Assignments[stop.number]
	err := workflow.SignalExternalWorkflow(ctx, study.AssignmentWorkflowID(s.state.ID, e.Assignment), "", study.SignalStop, stop.stop).Get(ctx, nil)
	if err == nil || ctx.Err() != nil {
		return
	}
	s.receive()
	s.state.Done(study.Done{Assignment: stop.number, Labels: study.Labels(e.Assignment, nil), How: stop.stop.How, Ended: workflow.Now(ctx)})
	s.changed = true
}

// tellPause tells open assignments whether they stand still.
func (s *studyRun) tellPause(ctx workflow.Context) {
	if s.told == s.state.Paused {
		return
	}
	s.told = s.state.Paused
	for _, e := range s.state.Assignments {
		if e.Status == study.Open {
			signal(ctx, study.AssignmentWorkflowID(s.state.ID, e.Assignment), study.SignalPause, s.told)
		}
	}
}

// cancel has open assignments end with what they have, keeps what is known, and returns
// why.
func (s *studyRun) cancel(ctx workflow.Context, why error) error {
	ctx, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	open := 0
	for _, e := range s.state.Assignments {
		if e.Status != study.Open {
			continue
		}
		// One that has ended needs it no more.
		if workflow.RequestCancelExternalWorkflow(ctx, study.AssignmentWorkflowID(s.state.ID, e.Assignment), "").Get(ctx, nil) == nil {
			open++
		}
	}
	// They tell what they have. One whose worker is away tells it to nobody, and stores it.
	if _, err := workflow.AwaitWithTimeout(ctx, time.Minute, func() bool { return s.done.Len() >= open }); err != nil {
		return err
	}
	s.receive()
	if err := s.save(ctx); err != nil {
		return err
	}
	return why
}

// save stores what the study ends with.
func (s *studyRun) save(ctx workflow.Context) error {
	return untilSaved(ctx, func() workflow.Future {
		return workflow.ExecuteActivity(mainOptions(ctx, "save the study"), (*activities.Studies)(nil).SaveState, s.state)
	})
}

// studyDetails is the Markdown that the Web UI shows of a study.
func studyDetails(status study.Status) string {
	text := fmt.Sprintf("**%s**", status.Stage)
	if status.Paused {
		text += ", paused"
	}
	text += "\n\n| | items | closed | YES | NO | short | in review |\n|---|---|---|---|---|---|---|\n"
	for _, m := range status.Modalities {
		text += fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d |\n", m.Modality, m.Items, m.Closed, m.Yes, m.No, m.Short, m.Adjudicated[study.UnderReview])
	}
	return text
}
