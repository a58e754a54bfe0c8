package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/overview"
)

// summary is what status and list know of an evaluation. The store is the truth;
// Temporal adds what runs now.
type summary struct {
	Evaluation string               `json:"evaluation"`
	State      string               `json:"state"` // running, completed, ..., or stored when Temporal doesn't know it
	Dataset    string               `json:"dataset"`
	Detector   string               `json:"detector"`
	Created    time.Time            `json:"created"`
	Dialogues  int                  `json:"dialogues"`
	Done       int                  `json:"done"` // with a record in the store
	Progress   *evaluation.Progress `json:"progress,omitempty"`
	Unserved   []string             `json:"queues_without_worker,omitempty"`
}

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status ID",
		Short: "Show how far an evaluation is",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.status(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.out).Encode(s)
			}
			a.printStatus(s)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) status(ctx context.Context, id string) (summary, error) {
	if err := evaluation.CheckID(id); err != nil {
		return summary{}, usageError{err}
	}
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return summary{}, err
	}
	m, _, err := store.Manifest(ctx, id)
	if err != nil {
		return summary{}, unknown(id, err)
	}
	c, err := a.dial(ctx, cfg)
	if err != nil {
		fmt.Fprintf(a.err, "note: %v; this is what is stored\n", err)
		return summarize(ctx, nil, store, m)
	}
	defer c.Close()
	s, err := summarize(ctx, c, store, m)
	if err != nil || s.State != "running" {
		return s, err
	}
	progress, err := overview.Progress(ctx, c, evaluation.WorkflowID(id))
	var noKey *codec.KeyError
	switch {
	case err == nil:
		s.Progress = &progress
	case errors.As(err, &noKey):
		fmt.Fprintf(a.err, "note: %v; this is what is stored\n", noKey)
	}
	for _, q := range unserved(ctx, c, queuesOf(m.Spec)) {
		s.Unserved = append(s.Unserved, q.String())
	}
	return s, nil
}

// summarize works without Temporal when c is nil.
func summarize(ctx context.Context, c client.Client, store archive.Archive, m evaluation.Manifest) (summary, error) {
	s := summary{
		Evaluation: m.Spec.ID,
		State:      "stored",
		Dataset:    m.Spec.Dataset.Name,
		Detector:   m.Spec.Detection.Detector,
		Created:    m.Created,
		Dialogues:  m.Items,
	}
	var err error
	if s.Done, err = store.CountRecords(ctx, m.Spec.ID); err != nil || c == nil {
		return s, err
	}
	described, err := c.DescribeWorkflow(ctx, evaluation.WorkflowID(m.Spec.ID), "")
	var notFound *serviceerror.NotFound
	switch {
	case errors.As(err, &notFound):
		return s, nil
	case err != nil:
		return s, fmt.Errorf("ask Temporal about %s: %w", m.Spec.ID, err)
	}
	s.State = stateName(described.Status)
	return s, nil
}

func stateName(status enumspb.WorkflowExecutionStatus) string {
	names := map[enumspb.WorkflowExecutionStatus]string{
		enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:    "running",
		enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:  "completed",
		enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:     "failed",
		enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:   "cancelled",
		enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED: "terminated",
		enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:  "timed out",
	}
	if name, ok := names[status]; ok {
		return name
	}
	return status.String()
}

func (a *app) printStatus(s summary) {
	fmt.Fprintf(a.out, "evaluation %s: %s, %d of %d dialogues recorded\n", s.Evaluation, s.State, s.Done, s.Dialogues)
	fmt.Fprintf(a.out, "%q by %s, created %s\n", s.Dataset, s.Detector, s.Created.Format(time.RFC3339))
	if p := s.Progress; p != nil {
		fmt.Fprintf(a.out, "%s: %d YES, %d NO, %d unresolved, %d failed, %d in flight\n", p.Stage, p.Yes, p.No, p.Unresolved, p.Failed, p.Started-p.Done)
	}
	if s.Progress != nil && s.Progress.Paused != nil {
		fmt.Fprintln(a.out, pausedLine(s.Evaluation, *s.Progress.Paused))
	}
	for _, line := range s.Unserved {
		fmt.Fprintln(a.out, line)
	}
}

func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all evaluations in the store",
		Args:  exactArgs(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.list(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func (a *app) list(ctx context.Context, asJSON bool) error {
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	ids, err := store.List(ctx)
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, cfg)
	if err != nil {
		fmt.Fprintf(a.err, "note: %v; this is what is stored\n", err)
		c = nil
	} else {
		defer c.Close()
	}
	summaries := []summary{}
	for _, id := range ids {
		m, _, err := store.Manifest(ctx, id)
		if err != nil {
			return err
		}
		s, err := summarize(ctx, c, store, m)
		if err != nil {
			return err
		}
		summaries = append(summaries, s)
	}
	if asJSON {
		return json.NewEncoder(a.out).Encode(summaries)
	}
	if len(summaries) == 0 {
		fmt.Fprintln(a.out, "no evaluations yet: start one with `starter evaluate`")
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "EVALUATION\tSTATE\tDONE\tDETECTOR\tDATASET\tCREATED")
	for _, s := range summaries {
		fmt.Fprintf(table, "%s\t%s\t%d/%d\t%s\t%q\t%s\n", s.Evaluation, s.State, s.Done, s.Dialogues, s.Detector, s.Dataset, s.Created.Format("2006-01-02 15:04"))
	}
	return table.Flush()
}
