package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

func (a *app) scheduleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Judge an evaluation's clips again and again, and say when something is lost",
		Args:  exactArgs(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.scheduleCreateCommand(), a.scheduleListCommand(), a.scheduleDescribeCommand(),
		a.schedulePauseCommand(), a.scheduleResumeCommand(), a.scheduleTriggerCommand(), a.scheduleBackfillCommand(),
		a.scheduleSimple("delete ID", "Let it fire no more; what it found stays, and what runs goes on", "deleted: what it found stays, see `starter trend %s`",
			func(ctx context.Context, h client.ScheduleHandle) error { return h.Delete(ctx) }))
	return cmd
}

// scheduleSimple is a command that does one thing to a schedule. done takes its id.
func (a *app) scheduleSimple(use, short, done string, do func(context.Context, client.ScheduleHandle) error) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := args[0]
			if err := evaluation.CheckScheduleID(id); err != nil {
				return usageError{err}
			}
			_, c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			if err := do(cmd.Context(), c.ScheduleClient().GetHandle(cmd.Context(), id)); err != nil {
				return scheduleError(id, err)
			}
			fmt.Fprintf(a.out, "schedule %s: "+done+"\n", id, id)
			return nil
		},
	}
}

func (a *app) schedulePauseCommand() *cobra.Command {
	var note string
	cmd := a.scheduleSimple("pause ID", "Let it fire no more until it is resumed; what runs goes on", "paused; go on with `starter schedule resume %s`",
		func(ctx context.Context, h client.ScheduleHandle) error {
			return h.Pause(ctx, client.SchedulePauseOptions{Note: note})
		})
	cmd.Flags().StringVar(&note, "note", "paused with starter", "why, for whoever looks at it")
	return cmd
}

func (a *app) scheduleResumeCommand() *cobra.Command {
	var note string
	cmd := a.scheduleSimple("resume ID", "Let it fire again; what was due meanwhile is not made up for", "resumed; see `starter schedule describe %s`",
		func(ctx context.Context, h client.ScheduleHandle) error {
			return h.Unpause(ctx, client.ScheduleUnpauseOptions{Note: note})
		})
	cmd.Flags().StringVar(&note, "note", "resumed with starter", "why, for whoever looks at it")
	return cmd
}

func (a *app) scheduleTriggerCommand() *cobra.Command {
	var overlap string
	policy := enumspb.SCHEDULE_OVERLAP_POLICY_UNSPECIFIED // the schedule's own
	cmd := a.scheduleSimple("trigger ID", "Let it fire now", "told to fire; see `starter schedule describe %s`",
		func(ctx context.Context, h client.ScheduleHandle) error {
			return h.Trigger(ctx, client.ScheduleTriggerOptions{Overlap: policy})
		})
	cmd.Flags().StringVar(&overlap, "overlap", "", "what happens while one still runs; without it as the schedule says: "+overlapHelp())
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		if overlap != "" {
			policy, err = parseOverlap(overlap)
		}
		return err
	}
	return cmd
}

func (a *app) scheduleBackfillCommand() *cobra.Command {
	var from, to, overlap string
	var request client.ScheduleBackfill
	cmd := a.scheduleSimple("backfill ID", "Let it fire for the times between two, as if they passed now", "told to fire for the times between; see `starter schedule describe %s`",
		func(ctx context.Context, h client.ScheduleHandle) error {
			return h.Backfill(ctx, client.ScheduleBackfillOptions{Backfill: []client.ScheduleBackfill{request}})
		})
	cmd.Long = `Let the schedule fire for the times between two, as if they passed now. The clips are
judged as the detector is today: a gap in the figures can't be filled afterwards, but a
missed look can be made up for.`
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&from, "from", "", "the first time, e.g. 2026-03-01T00:00:00Z")
	f.StringVar(&to, "to", "", "the last time")
	f.StringVar(&overlap, "overlap", "buffer-all", "one after the other, or otherwise: "+overlapHelp())
	cmd.PreRunE = func(*cobra.Command, []string) error {
		var errs [3]error
		request.Start, errs[0] = parseTime("--from", from)
		request.End, errs[1] = parseTime("--to", to)
		request.Overlap, errs[2] = parseOverlap(overlap)
		if err := errors.Join(errs[:]...); err != nil {
			return usageError{err}
		}
		if request.End.Before(request.Start) {
			return usagef("--to %s is before --from %s", to, from)
		}
		return nil
	}
	return cmd
}

func parseTime(flag, text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s %q: use a time such as 2026-03-01T02:30:00Z", flag, text)
	}
	return t, nil
}

// overlaps are the policies by the names that people use.
func overlaps() map[string]enumspb.ScheduleOverlapPolicy {
	return map[string]enumspb.ScheduleOverlapPolicy{
		"skip":            enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		"buffer-one":      enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE,
		"buffer-all":      enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL,
		"cancel-other":    enumspb.SCHEDULE_OVERLAP_POLICY_CANCEL_OTHER,
		"terminate-other": enumspb.SCHEDULE_OVERLAP_POLICY_TERMINATE_OTHER,
		"allow-all":       enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
	}
}

func overlapHelp() string {
	return "skip, buffer-one, buffer-all, cancel-other, terminate-other or allow-all"
}

func parseOverlap(name string) (enumspb.ScheduleOverlapPolicy, error) {
	policy, ok := overlaps()[name]
	if !ok {
		return policy, usagef("--overlap %q: use %s", name, overlapHelp())
	}
	return policy, nil
}

func overlapName(policy enumspb.ScheduleOverlapPolicy) string {
	for name, p := range overlaps() {
		if p == policy {
			return name
		}
	}
	return policy.String()
}

func scheduleError(id string, err error) error {
	var missing *serviceerror.NotFound
	var refused *serviceerror.InvalidArgument
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("no schedule %q in Temporal: `starter schedule list` shows those there are, `starter trend %[1]s` what it found", id)
	case errors.As(err, &refused):
		return fmt.Errorf("schedule %q: Temporal refuses it: %s", id, refused.Message)
	}
	return fmt.Errorf("schedule %q: %w", id, err)
}
