// Package overview asks Temporal what happens in a namespace now: which evaluations
// run and how far they are, who serves which queue and what waits there, and what
// became of scheduled evaluations.
package overview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// Source is where a view comes from.
type Source struct {
	Client    client.Client
	Namespace string
	Archive   archive.Archive // knows the queues of evaluations
}

// View is what was seen at one time.
type View struct {
	At          time.Time    `json:"at"`
	Evaluations []Evaluation `json:"evaluations"` // those that run, the oldest first
	Queues      []Queue      `json:"queues"`      // those in use or served, by name
	Schedules   Schedules    `json:"schedules"`
}

// Look returns what is to be seen, and an error that names everything that isn't:
// the view holds the rest.
func (s Source) Look(ctx context.Context) (View, error) {
	v := View{At: time.Now()}
	var errs [3]error
	v.Evaluations, errs[0] = s.Running(ctx)
	v.Queues, errs[1] = s.Queues(ctx, namesOf(v.Evaluations))
	v.Schedules, errs[2] = s.schedules(ctx)
	return v, errors.Join(errs[:]...)
}

func namesOf(evaluations []Evaluation) []string {
	var names []string
	for _, e := range evaluations {
		names = append(names, e.Queues...)
	}
	return names
}

// Queues describes the queues that are named, those that every evaluation needs, and
// those that workers serve. A worker's own queue is left out: it shares the slots of
// the queue before the "@". Where Temporal doesn't know capacities, as older servers
// don't, the error says so and the rest is there.
func (s Source) Queues(ctx context.Context, names []string) ([]Queue, error) {
	names = append([]string{evaluation.QueueMain, evaluation.QueueAudio}, names...)
	told, capacityErr := s.capacities(ctx)
	for kind := range told {
		names = append(names, kind.queue)
	}
	slices.Sort(names)
	var queues []Queue
	for _, name := range slices.Compact(names) {
		kinds := []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_ACTIVITY}
		if name == evaluation.QueueMain {
			kinds = []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY}
		}
		for _, kind := range kinds {
			q, err := s.queue(ctx, name, kind)
			if err != nil {
				return queues, errors.Join(err, capacityErr)
			}
			if slots := told[queueKind{name, kind}]; slots.Total > 0 { // a worker that has just started told of none
				q.Slots = &slots
			}
			queues = append(queues, q)
		}
	}
	if capacityErr != nil {
		return queues, fmt.Errorf("capacity is unknown: %w", capacityErr)
	}
	return queues, nil
}
