package overview

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// queryTimeout bounds what is waited for a worker to answer.
const queryTimeout = 5 * time.Second

// Evaluation is one that runs.
type Evaluation struct {
	ID       string               `json:"id"`
	Started  time.Time            `json:"started"`
	Detector string               `json:"detector,omitempty"` // "" where the store doesn't know the evaluation
	Queues   []string             `json:"queues,omitempty"`
	Progress *evaluation.Progress `json:"progress,omitempty"` // nil where no worker answers
}

// maxRunning bounds what one look costs.
const maxRunning = 100

// Running returns the evaluations that run, at most a hundred, the oldest first.
func (s Source) Running(ctx context.Context) ([]Evaluation, error) {
	running := []Evaluation{}
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: s.Namespace, Query: "WorkflowType = 'Evaluate' AND ExecutionStatus = 'Running'"}
	for {
		page, err := s.Client.ListWorkflow(ctx, request)
		if err != nil {
			return running, fmt.Errorf("list the evaluations that run: %w", err)
		}
		for _, execution := range page.GetExecutions() {
			running = append(running, Evaluation{ID: execution.GetExecution().GetWorkflowId(), Started: execution.GetStartTime().AsTime()})
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 || len(running) >= maxRunning {
			break
		}
	}
	slices.SortFunc(running, func(a, b Evaluation) int { return a.Started.Compare(b.Started) })
	running = running[:min(len(running), maxRunning)]
	for i := range running {
		e := &running[i]
		if m, _, err := s.Archive.Manifest(ctx, e.ID); err == nil {
			e.Detector, e.Queues, e.Started = m.Spec.Detection.Detector, m.Spec.Queues(), m.Created
		}
		if progress, err := Progress(ctx, s.Client, evaluation.WorkflowID(e.ID)); err == nil {
			e.Progress = &progress
		}
	}
	return running, nil
}

// Progress asks the evaluation of a workflow id, and the chunks in flight for what
// it does not know yet. It needs a worker that answers queries.
func Progress(ctx context.Context, c client.Client, id string) (evaluation.Progress, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	whole, err := query(ctx, c, id)
	if err != nil {
		return whole, err
	}
	exact := whole.Finished
	for _, chunk := range whole.Live {
		part, err := query(ctx, c, chunk)
		if err != nil {
			return whole, nil // it has just ended, or not begun: the evaluation's own count will do
		}
		exact.Add(part.Counts)
	}
	whole.Counts = exact
	return whole, nil
}

func query(ctx context.Context, c client.Client, workflowID string) (evaluation.Progress, error) {
	var p evaluation.Progress
	value, err := c.QueryWorkflow(ctx, workflowID, "", evaluation.QueryProgress)
	if err == nil {
		err = value.Get(&p)
	}
	return p, err
}
