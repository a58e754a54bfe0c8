package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID",
		Short: "Stop an evaluation in good order: calls in flight end, the report shows what is done",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.stop(cmd.Context(), args[0], "cancelling", func(ctx context.Context, c client.Client, id string) error {
				return c.CancelWorkflow(ctx, id, "")
			})
		},
	}
}

func (a *app) terminateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "terminate ID",
		Short: "Stop an evaluation at once, with all its chunks and dialogues; no report is written",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.stop(cmd.Context(), args[0], "terminated", terminateTree)
		},
	}
}

// stop ends an evaluation and says so.
func (a *app) stop(ctx context.Context, id, done string, stop func(context.Context, client.Client, string) error) error {
	return a.running(ctx, id, func(ctx context.Context, c client.Client, id string) error {
		if err := stop(ctx, c, id); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "evaluation %s: %s; `starter report %[1]s` shows what is stored\n", id, done)
		return nil
	})
}

// terminateTree terminates an evaluation's workflows from the top, so that no
// parent starts another child meanwhile. Temporal itself would only ask the
// children of a terminated workflow to cancel, which takes a worker.
func terminateTree(ctx context.Context, c client.Client, id string) error {
	const reason = "starter terminate"
	if err := c.TerminateWorkflow(ctx, id, "", reason); err != nil {
		return err
	}
	// Ids of an evaluation's parts begin with its own and a slash, which no
	// other evaluation's id has.
	query := fmt.Sprintf("ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '%s/'", id)
	for {
		page, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 500})
		if err != nil {
			return fmt.Errorf("find the parts of %s: %w", id, err)
		}
		if len(page.GetExecutions()) == 0 {
			return nil
		}
		for _, part := range page.GetExecutions() {
			err := c.TerminateWorkflow(ctx, part.GetExecution().GetWorkflowId(), "", reason)
			var gone *serviceerror.NotFound
			if err != nil && !errors.As(err, &gone) {
				return fmt.Errorf("terminate %s: %w", part.GetExecution().GetWorkflowId(), err)
			}
		}
	}
}
