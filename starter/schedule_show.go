package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/trend"
)

// listedSchedule is a schedule, and the JSON that schedule list prints.
type listedSchedule struct {
	ID       string     `json:"id"`
	Baseline string     `json:"baseline"` // "" where what is stored of it is gone
	Paused   bool       `json:"paused"`
	Note     string     `json:"note,omitempty"`
	Last     *time.Time `json:"last,omitempty"` // when it fired
	Next     *time.Time `json:"next,omitempty"`
}

func (a *app) scheduleListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the schedules",
		Args:  exactArgs(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.listSchedules(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func (a *app) listSchedules(ctx context.Context, asJSON bool) error {
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	entries, err := c.ScheduleClient().List(ctx, client.ScheduleListOptions{})
	if err != nil {
		return fmt.Errorf("list schedules: %w", err)
	}
	all := []listedSchedule{}
	for entries.HasNext() {
		entry, err := entries.Next()
		if err != nil {
			return fmt.Errorf("list schedules: %w", err)
		}
		if entry.WorkflowType.Name == "ScheduledEvaluation" { // a namespace may hold others
			listed, err := listSchedule(ctx, store, entry)
			if err != nil {
				return err
			}
			all = append(all, listed)
		}
	}
	if asJSON {
		return json.NewEncoder(a.out).Encode(all)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.out, "no schedules yet: make one with `starter schedule create`")
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SCHEDULE\tBASELINE\tSTATE\tLAST\tNEXT")
	for _, s := range all {
		state := "active"
		if s.Paused {
			state = "paused"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.ID, s.Baseline, state, moment(s.Last), moment(s.Next))
	}
	return table.Flush()
}

func listSchedule(ctx context.Context, store archive.Archive, entry *client.ScheduleListEntry) (listedSchedule, error) {
	out := listedSchedule{ID: entry.ID, Paused: entry.Paused, Note: entry.Note}
	if n := len(entry.RecentActions); n > 0 {
		out.Last = &entry.RecentActions[n-1].ActualTime
	}
	if next := toCome(entry.NextActionTimes); len(next) > 0 {
		out.Next = &next[0]
	}
	stored, err := store.Schedule(ctx, entry.ID)
	if err != nil && !errors.Is(err, objectstore.ErrNotFound) {
		return out, err
	}
	out.Baseline = stored.Baseline
	return out, nil
}

func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// described is what schedule describe prints as JSON.
type described struct {
	trend.History
	Overlap        string   `json:"overlap"`
	CatchUp        string   `json:"catch_up"`
	PauseOnFailure bool     `json:"pause_on_failure"`
	TimeZone       string   `json:"time_zone,omitempty"`
	Running        []string `json:"running"`
}

func (a *app) scheduleDescribeCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "describe ID",
		Short: "Print what a schedule does, when, and what became of its firings",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.describeSchedule(cmd.Context(), args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON for scripts")
	return cmd
}

func (a *app) describeSchedule(ctx context.Context, id string, asJSON bool) error {
	cfg, history, err := a.storedHistory(ctx, id)
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	d, err := ask(ctx, c, &history)
	if err != nil {
		return scheduleError(id, err)
	}
	if d == nil {
		return fmt.Errorf("schedule %q was deleted: `starter trend %[1]s` shows what it found", id)
	}
	policy := d.Schedule.Policy
	out := described{
		History: history, Overlap: overlapName(policy.Overlap), CatchUp: policy.CatchupWindow.String(), PauseOnFailure: policy.PauseOnFailure,
		TimeZone: d.Schedule.Spec.TimeZoneName, Running: []string{},
	}
	for _, running := range d.Info.RunningWorkflows {
		out.Running = append(out.Running, evaluation.ScheduledID(running.WorkflowID))
	}
	if asJSON {
		encoder := json.NewEncoder(a.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(out)
	}
	return a.printSchedule(out)
}

func (a *app) printSchedule(d described) error {
	state := "active"
	if d.Actions.Paused {
		state = "PAUSED"
	}
	note := ""
	if d.Actions.Note != "" {
		note = fmt.Sprintf(" (%q)", d.Actions.Note)
	}
	fmt.Fprintf(a.out, "schedule %s: %s%s\n", d.Schedule.ID, state, note)
	fmt.Fprintf(a.out, "  judges %s again, %d clips of it first as a canary\n", d.Schedule.Baseline, len(d.Schedule.Canary))
	var limits []string
	for _, l := range d.Schedule.Limits {
		limits = append(limits, fmt.Sprintf("%s:%g", l.Metric, l.Allowed))
	}
	fmt.Fprintf(a.out, "  may lose %s\n", strings.Join(limits, ", "))
	if d.Schedule.Webhook != "" {
		fmt.Fprintf(a.out, "  tells webhook %s\n", d.Schedule.Webhook)
	}
	fmt.Fprintf(a.out, "  overlap %s, catch-up window %s, pause on failure %t\n", d.Overlap, d.CatchUp, d.PauseOnFailure)
	next := "never by itself"
	if len(d.Actions.Next) > 0 && !d.Actions.Paused {
		next = moment(&d.Actions.Next[0])
	}
	fmt.Fprintf(a.out, "  next: %s\n", next)
	for _, id := range d.Running {
		fmt.Fprintf(a.out, "  running: %s (`starter watch %[1]s`)\n", id)
	}
	fmt.Fprintln(a.out)
	return trend.WriteText(a.out, d.History)
}
