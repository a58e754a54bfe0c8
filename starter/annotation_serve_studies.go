package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/annotate"
	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/study"
)

// studies is the page's way to the workflows of studies.
type studies struct {
	app    *app
	store  archive.Archive
	client client.Client
}

// pageWait is how long the page waits for Temporal: longer than a worker that starts
// again takes, shorter than a person waits.
const pageWait = 15 * time.Second

func (s studies) query(ctx context.Context, workflow, name string, out any, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	return leading{client: s.client}.query(ctx, workflow, name, out, args...)
}

// ended returns what a study has ended with, where Temporal has forgotten it.
func (s studies) ended(ctx context.Context, id string, cause error) (study.State, error) {
	var notFound *serviceerror.NotFound
	if !errors.As(cause, &notFound) {
		return study.State{}, cause
	}
	return s.store.StudyState(ctx, id)
}

func (s studies) Desk(ctx context.Context, id, annotator string) (study.Desk, error) {
	var desk study.Desk
	err := s.query(ctx, study.WorkflowID(id), study.QueryDesk, &desk, annotator)
	if err != nil {
		state, err := s.ended(ctx, id, err)
		return state.Desk(annotator), err
	}
	return desk, nil
}

func (s studies) Status(ctx context.Context, id string) (study.Status, error) {
	var status study.Status
	err := s.query(ctx, study.WorkflowID(id), study.QueryStatus, &status)
	if err != nil {
		state, err := s.ended(ctx, id, err)
		return state.Status(), err
	}
	return status, nil
}

func (s studies) Progress(ctx context.Context, workflow string) (study.Progress, error) {
	var p study.Progress
	err := s.query(ctx, workflow, study.QueryAssignment, &p)
	return p, err
}

func (s studies) Judge(ctx context.Context, workflow string, j study.Judge) error {
	return s.update(ctx, workflow, study.UpdateJudge, j)
}

func (s studies) Finish(ctx context.Context, workflow string) error {
	return s.update(ctx, workflow, study.UpdateFinish)
}

// update returns when an Update is durable. What the assignment refuses is a Refusal.
func (s studies) update(ctx context.Context, workflow, name string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	handle, err := s.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflow, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	var refused *temporal.ApplicationError
	var notFound *serviceerror.NotFound
	switch {
	case errors.As(err, &refused):
		return annotate.Refusal(refused.Message())
	case errors.As(err, &notFound):
		return annotate.Refusal("this batch has ended")
	case err != nil:
		return fmt.Errorf("%s to %s: %w", name, workflow, err)
	}
	return nil
}

func (s studies) Export(ctx context.Context, id, form string, w io.Writer) error {
	return s.writing(w).exportStudy(ctx, id, studyExportOptions{form: form})
}

func (s studies) Agreement(ctx context.Context, id string, w io.Writer) error {
	var votes bytes.Buffer
	if err := s.Export(ctx, id, "long", &votes); err != nil {
		return err
	}
	if bytes.Count(votes.Bytes(), []byte("\n")) < 2 { // the header alone
		_, err := fmt.Fprintln(w, "nothing is judged yet")
		return err
	}
	to := s.writing(w)
	to.in = &votes
	return to.agreement(agreementOptions{files: []string{"-"}}) // without intervals: those take a while
}

// writing is the starter with its output elsewhere.
func (s studies) writing(w io.Writer) *app {
	to := *s.app
	to.out = w
	return &to
}
