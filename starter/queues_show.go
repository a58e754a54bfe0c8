package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

func (a *app) queuesCommand() *cobra.Command {
	var asJSON bool
	var more []string
	cmd := &cobra.Command{
		Use:   "queues",
		Short: "Show every queue's workers, capacity and backlog",
		Long: `Show the queues that running evaluations use, those that workers serve, and those
named by --queue. Temporal knows who asked for work within the last minutes, and hears
of slots once a minute, so that a worker that was killed is seen for a while. A
worker's own queue, for work that follows it, is left out.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.queues(cmd.Context(), more, asJSON) },
	}
	cmd.Flags().StringSliceVar(&more, "queue", nil, "one more queue, e.g. speech-elevenlabs; may be repeated")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON for scripts")
	return cmd
}

// queueState is one kind of tasks of a queue, and the JSON that queues --json prints.
type queueState struct {
	Queue      string   `json:"queue"`
	Tasks      string   `json:"tasks"` // workflow or activity
	Pollers    []poller `json:"pollers"`
	Slots      *slots   `json:"slots,omitempty"` // of the workers that told; none where nobody did
	Backlog    int64    `json:"backlog"`         // approximately
	Oldest     float64  `json:"oldest_seconds"`  // how long the first of the backlog has waited
	Added      float32  `json:"added_per_second"`
	Dispatched float32  `json:"dispatched_per_second"`
}

// poller is who asked for work within the last minutes.
type poller struct {
	Identity   string    `json:"identity"`
	LastAccess time.Time `json:"last_access"`
	Version    string    `json:"version,omitempty"` // "" for an unversioned worker
}

func (a *app) queues(ctx context.Context, more []string, asJSON bool) error {
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	names := append([]string{evaluation.QueueMain, evaluation.QueueAudio}, more...)
	used, err := a.queuesInUse(ctx, c, store)
	if err != nil {
		return err
	}
	told, err := capacities(ctx, c, cfg.Temporal.Namespace)
	if err != nil {
		fmt.Fprintf(a.err, "note: capacity is unknown: %v\n", err) // an older server
	}
	names = append(names, used...)
	for kind := range told {
		names = append(names, kind.queue)
	}
	slices.Sort(names)
	var states []queueState
	for _, name := range slices.Compact(names) {
		kinds := []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_ACTIVITY}
		if name == evaluation.QueueMain {
			kinds = []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY}
		}
		for _, kind := range kinds {
			state, err := describeQueue(ctx, c, cfg.Temporal.Namespace, name, kind)
			if err != nil {
				return err
			}
			if s := told[queueKind{name, kind}]; s.Total > 0 { // a worker that has just started told of none
				state.Slots = &s
			}
			states = append(states, state)
		}
	}
	if asJSON {
		return json.NewEncoder(a.out).Encode(states)
	}
	return printQueues(a.out, states, time.Now())
}

// queuesInUse returns the queues of all evaluations that run.
func (a *app) queuesInUse(ctx context.Context, c client.Client, store archive.Archive) ([]string, error) {
	var names []string
	request := &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType = 'Evaluate' AND ExecutionStatus = 'Running'"}
	for {
		page, err := c.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list the evaluations that run: %w", err)
		}
		for _, execution := range page.GetExecutions() {
			id := execution.GetExecution().GetWorkflowId()
			m, _, err := store.Manifest(ctx, id)
			if err != nil {
				fmt.Fprintf(a.err, "note: the queues of evaluation %s are unknown: %v\n", id, err)
				continue
			}
			for _, q := range queuesOf(m.Spec) {
				names = append(names, q.name)
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return names, nil
		}
	}
}

func describeQueue(ctx context.Context, c client.Client, namespace, name string, kind enumspb.TaskQueueType) (queueState, error) {
	state := queueState{Queue: name, Tasks: "activity", Pollers: []poller{}}
	if kind == enumspb.TASK_QUEUE_TYPE_WORKFLOW {
		state.Tasks = "workflow"
	}
	described, err := c.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: namespace, TaskQueue: taskQueue(name), TaskQueueType: kind, ReportStats: true,
	})
	if err != nil {
		return state, fmt.Errorf("describe queue %q: %w", name, err)
	}
	for _, p := range described.GetPollers() {
		found := poller{Identity: p.GetIdentity(), LastAccess: p.GetLastAccessTime().AsTime()}
		if version := p.GetDeploymentOptions(); version.GetWorkerVersioningMode() == enumspb.WORKER_VERSIONING_MODE_VERSIONED {
			found.Version = version.GetDeploymentName() + "." + version.GetBuildId()
		}
		state.Pollers = append(state.Pollers, found)
	}
	slices.SortFunc(state.Pollers, func(a, b poller) int {
		return strings.Compare(a.Version+" "+a.Identity, b.Version+" "+b.Identity)
	})
	stats := described.GetStats()
	state.Backlog, state.Oldest = stats.GetApproximateBacklogCount(), stats.GetApproximateBacklogAge().AsDuration().Seconds()
	state.Added, state.Dispatched = stats.GetTasksAddRate(), stats.GetTasksDispatchRate()
	return state, nil
}

func printQueues(out io.Writer, states []queueState, now time.Time) error {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "QUEUE\tTASKS\tPOLLERS\tSLOTS IN USE\tBACKLOG\tOLDEST\tIN/S\tOUT/S")
	for _, s := range states {
		capacity := "unknown"
		if s.Slots != nil {
			capacity = fmt.Sprintf("%d of %d", s.Slots.Used, s.Slots.Total)
		}
		oldest := time.Duration(s.Oldest * float64(time.Second)).Round(time.Second)
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%d\t%s\t%.1f\t%.1f\n", s.Queue, s.Tasks, len(s.Pollers), capacity, s.Backlog, oldest, s.Added, s.Dispatched)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, s := range states {
		if len(s.Pollers) == 0 {
			fmt.Fprintf(out, "no worker polls queue %q for %s tasks\n", s.Queue, s.Tasks)
		}
		for _, p := range s.Pollers {
			version := ""
			if p.Version != "" {
				version = ", version " + p.Version
			}
			fmt.Fprintf(out, "%s, %s: %s%s, last asked %s ago\n", s.Queue, s.Tasks, p.Identity, version, now.Sub(p.LastAccess).Round(time.Second))
		}
	}
	return nil
}
