package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/overview"
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
	from := overview.Source{Client: c, Namespace: cfg.Temporal.Namespace, Archive: store}
	running, err := from.Running(ctx)
	if err != nil {
		return err
	}
	for _, e := range running {
		if e.Queues == nil {
			fmt.Fprintf(a.err, "note: the queues of evaluation %s are unknown: the store has no manifest of it\n", e.ID)
		}
		more = append(more, e.Queues...)
	}
	states, err := from.Queues(ctx, more)
	if len(states) == 0 && err != nil {
		return err
	}
	if err != nil {
		fmt.Fprintf(a.err, "note: %v\n", err)
	}
	if asJSON {
		return json.NewEncoder(a.out).Encode(states)
	}
	printQueues(a.out, states, time.Now())
	return nil
}

func printQueueTable(out io.Writer, states []overview.Queue) {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "QUEUE\tTASKS\tPOLLERS\tSLOTS IN USE\tBACKLOG\tOLDEST\tIN/S\tOUT/S")
	for _, s := range states {
		capacity := "unknown"
		if s.Slots != nil {
			capacity = fmt.Sprintf("%d of %d", s.Slots.Used, s.Slots.Total)
		}
		oldest := time.Duration(s.Oldest * float64(time.Second)).Round(time.Second)
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%d\t%s\t%.1f\t%.1f\n", s.Name, s.Tasks, len(s.Pollers), capacity, s.Backlog, oldest, s.Added, s.Dispatched)
	}
	_ = table.Flush() // a closed pipe ends the command by itself
}

func printQueues(out io.Writer, states []overview.Queue, now time.Time) {
	printQueueTable(out, states)
	for _, s := range states {
		if len(s.Pollers) == 0 {
			fmt.Fprintf(out, "no worker polls queue %q for %s tasks\n", s.Name, s.Tasks)
		}
		for _, p := range s.Pollers {
			version := ""
			if p.Version != "" {
				version = ", version " + p.Version
			}
			fmt.Fprintf(out, "%s, %s: %s%s, last asked %s ago\n", s.Name, s.Tasks, p.Identity, version, now.Sub(p.LastAccess).Round(time.Second))
		}
	}
}
