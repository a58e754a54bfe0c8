package overview

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workerpb "go.temporal.io/api/worker/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// Queue is one kind of tasks of a queue.
type Queue struct {
	Name       string   `json:"queue"`
	Tasks      string   `json:"tasks"` // workflow or activity
	Pollers    []Poller `json:"pollers"`
	Slots      *Slots   `json:"slots,omitempty"` // of the workers that told; none where nobody did
	Backlog    int64    `json:"backlog"`         // approximately
	Oldest     float64  `json:"oldest_seconds"`  // how long the first of the backlog has waited
	Added      float32  `json:"added_per_second"`
	Dispatched float32  `json:"dispatched_per_second"`
}

// Poller is who asked for work within the last minutes.
type Poller struct {
	Identity   string    `json:"identity"`
	LastAccess time.Time `json:"last_access"`
	Version    string    `json:"version,omitempty"` // "" for an unversioned worker
}

// Slots are how many tasks the workers of a queue take at once, as they told last.
type Slots struct {
	Workers int   `json:"workers"`
	Total   int32 `json:"total"`
	Used    int32 `json:"used"`
}

func (s Slots) and(more *workerpb.WorkerSlotsInfo) Slots {
	s.Workers++
	s.Used += more.GetCurrentUsedSlots()
	s.Total += more.GetCurrentUsedSlots() + more.GetCurrentAvailableSlots()
	return s
}

func (s Source) queue(ctx context.Context, name string, kind enumspb.TaskQueueType) (Queue, error) {
	q := Queue{Name: name, Tasks: "activity", Pollers: []Poller{}}
	if kind == enumspb.TASK_QUEUE_TYPE_WORKFLOW {
		q.Tasks = "workflow"
	}
	described, err := s.Client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: s.Namespace, TaskQueueType: kind, ReportStats: true,
		TaskQueue: &taskqueuepb.TaskQueue{Name: name, Kind: enumspb.TASK_QUEUE_KIND_NORMAL},
	})
	if err != nil {
		return q, fmt.Errorf("describe queue %q: %w", name, err)
	}
	for _, p := range described.GetPollers() {
		found := Poller{Identity: p.GetIdentity(), LastAccess: p.GetLastAccessTime().AsTime()}
		if version := p.GetDeploymentOptions(); version.GetWorkerVersioningMode() == enumspb.WORKER_VERSIONING_MODE_VERSIONED {
			found.Version = version.GetDeploymentName() + "." + version.GetBuildId()
		}
		q.Pollers = append(q.Pollers, found)
	}
	slices.SortFunc(q.Pollers, func(a, b Poller) int {
		return strings.Compare(a.Version+" "+a.Identity, b.Version+" "+b.Identity)
	})
	stats := described.GetStats()
	q.Backlog, q.Oldest = stats.GetApproximateBacklogCount(), stats.GetApproximateBacklogAge().AsDuration().Seconds()
	q.Added, q.Dispatched = stats.GetTasksAddRate(), stats.GetTasksDispatchRate()
	return q, nil
}

// queueKind is one kind of tasks of a queue.
type queueKind struct {
	queue string
	kind  enumspb.TaskQueueType
}

// capacities asks Temporal what running workers told of their slots.
func (s Source) capacities(ctx context.Context) (map[queueKind]Slots, error) {
	told := map[queueKind]Slots{}
	request := &workflowservice.ListWorkersRequest{Namespace: s.Namespace, Query: "Status = 'Running'"}
	for {
		page, err := s.Client.WorkflowService().ListWorkers(ctx, request)
		if err != nil {
			return told, fmt.Errorf("list workers: %w", err)
		}
		for _, w := range page.GetWorkers() {
			if strings.Contains(w.GetTaskQueue(), "@") {
				continue
			}
			described, err := s.Client.WorkflowService().DescribeWorker(ctx, &workflowservice.DescribeWorkerRequest{
				Namespace: s.Namespace, WorkerInstanceKey: w.GetWorkerInstanceKey(),
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
