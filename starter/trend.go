package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/trend"
)

func (a *app) trendCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "trend SCHEDULE",
		Short: "Print a schedule's figures over time, from what is stored and what Temporal counts",
		Args:  exactArgs("SCHEDULE"),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.trend(cmd.Context(), args[0], format) },
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or html (one page that stands alone)")
	return cmd
}

func (a *app) trend(ctx context.Context, id, format string) error {
	write, ok := map[string]func(io.Writer, trend.History) error{
		"text": trend.WriteText,
		"json": trend.WriteJSON,
		"html": trend.WriteHTML,
	}[format]
	if !ok {
		return usagef("--format %q: use text, json or html", format)
	}
	cfg, history, err := a.storedHistory(ctx, id)
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, cfg)
	if err != nil {
		fmt.Fprintf(a.err, "note: %v; this is what is stored\n", err)
		return write(a.out, history)
	}
	defer c.Close()
	if _, err := ask(ctx, c, &history); err != nil {
		return scheduleError(id, err)
	}
	return write(a.out, history)
}

// storedHistory opens the store and returns what is stored of a schedule.
func (a *app) storedHistory(ctx context.Context, id string) (config.Config, trend.History, error) {
	if err := evaluation.CheckScheduleID(id); err != nil {
		return config.Config{}, trend.History{}, usageError{err}
	}
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return cfg, trend.History{}, err
	}
	history, err := readHistory(ctx, store, id)
	return cfg, history, err
}

// readHistory is what is stored of a schedule.
func readHistory(ctx context.Context, store archive.Archive, id string) (trend.History, error) {
	schedule, err := store.Schedule(ctx, id)
	if errors.Is(err, objectstore.ErrNotFound) {
		return trend.History{}, fmt.Errorf("no schedule %q: `starter schedule list` shows those there are", id)
	}
	if err != nil {
		return trend.History{}, err
	}
	firings, err := store.Firings(ctx, id)
	if err != nil {
		return trend.History{}, err
	}
	outcomes, err := store.Outcomes(ctx, id)
	return trend.NewHistory(schedule, firings, outcomes), err
}

// ask adds what Temporal knows: its counts, firings that ended before they were
// stored, and what became of those without an outcome. It returns the schedule's
// description, nil where Temporal doesn't know it any more.
func ask(ctx context.Context, c client.Client, h *trend.History) (*client.ScheduleDescription, error) {
	var missing *serviceerror.NotFound
	d, err := c.ScheduleClient().GetHandle(ctx, h.Schedule.ID).Describe(ctx)
	switch {
	case err == nil:
		addActions(h, d)
	case errors.As(err, &missing):
		d = nil
	default:
		return nil, err
	}
	for i, row := range h.Firings {
		if row.Outcome != nil {
			continue
		}
		if h.Firings[i].State, h.Firings[i].Why, err = stateOf(ctx, c, row.Workflow); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func addActions(h *trend.History, d *client.ScheduleDescription) {
	h.Actions = &trend.Actions{
		Taken: d.Info.NumActions, Skipped: d.Info.NumActionsSkippedOverlap, Missed: d.Info.NumActionsMissedCatchupWindow,
		Paused: d.Schedule.State.Paused, Note: d.Schedule.State.Note, Next: toCome(d.Info.NextActionTimes),
	}
	for _, action := range d.Info.RecentActions {
		if started := action.StartWorkflowResult; started != nil {
			h.Add(trend.Row{State: trend.StateUnknown, Firing: evaluation.Firing{
				Schedule: h.Schedule.ID, Evaluation: evaluation.ScheduledID(started.WorkflowID), Workflow: started.WorkflowID, Due: action.ScheduleTime.UTC(),
			}})
		}
	}
}

// toCome leaves out what is past: Temporal lists a missed time until the next is taken.
func toCome(times []time.Time) []time.Time {
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(times), func(t time.Time) bool { return t.Before(now) })
}

// stateOf is what became of a firing that has no outcome, and why.
func stateOf(ctx context.Context, c client.Client, workflowID string) (state, why string, err error) {
	var missing *serviceerror.NotFound
	described, err := c.DescribeWorkflow(ctx, workflowID, "")
	switch {
	case errors.As(err, &missing):
		return trend.StateUnknown, "Temporal doesn't know it any more", nil
	case err != nil:
		return "", "", err
	case described.Status == enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:
		if err := c.GetWorkflow(ctx, workflowID, "").Get(ctx, nil); err != nil {
			why = rootCause(err)
		}
	}
	return stateName(described.Status), why, nil
}
