package main

import (
	"context"
	"fmt"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workerpb "go.temporal.io/api/worker/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// slots are how many tasks the workers of a queue take at once, as they told last.
type slots struct {
	Workers int   `json:"workers"`
	Total   int32 `json:"total"`
	Used    int32 `json:"used"`
}

func (s slots) and(more *workerpb.WorkerSlotsInfo) slots {
	s.Workers++
	s.Used += more.GetCurrentUsedSlots()
	s.Total += more.GetCurrentUsedSlots() + more.GetCurrentAvailableSlots()
	return s
}

// queueKind is one kind of tasks of a queue.
type queueKind struct {
	queue string
	kind  enumspb.TaskQueueType
}

// capacities asks Temporal what running workers told of their slots. A worker's own
// queue is left out: it shares the slots of the queue before the "@".
func capacities(ctx context.Context, c client.Client, namespace string) (map[queueKind]slots, error) {
	told := map[queueKind]slots{}
	request := &workflowservice.ListWorkersRequest{Namespace: namespace, Query: "Status = 'Running'"}
	for {
		page, err := c.WorkflowService().ListWorkers(ctx, request)
		if err != nil {
			return told, fmt.Errorf("list workers: %w", err)
		}
		for _, w := range page.GetWorkers() {
			if strings.Contains(w.GetTaskQueue(), "@") {
				continue
			}
			described, err := c.WorkflowService().DescribeWorker(ctx, &workflowservice.DescribeWorkerRequest{
				Namespace: namespace, WorkerInstanceKey: w.GetWorkerInstanceKey(),
			})
			if err != nil {
				continue // it ended meanwhile
			}
			heartbeat := described.GetWorkerInfo().GetWorkerHeartbeat()
			activity := queueKind{w.GetTaskQueue(), enumspb.TASK_QUEUE_TYPE_ACTIVITY}
			told[activity] = told[activity].and(heartbeat.GetActivityTaskSlotsInfo())
			if heartbeat.GetWorkflowPollerInfo().GetCurrentPollers() > 0 {
				workflow := queueKind{w.GetTaskQueue(), enumspb.TASK_QUEUE_TYPE_WORKFLOW}
				told[workflow] = told[workflow].and(heartbeat.GetWorkflowTaskSlotsInfo())
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return told, nil
		}
	}
}

func taskQueue(name string) *taskqueuepb.TaskQueue {
	return &taskqueuepb.TaskQueue{Name: name, Kind: enumspb.TASK_QUEUE_KIND_NORMAL}
}
