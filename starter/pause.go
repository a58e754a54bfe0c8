package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/overview"
)

func (a *app) pauseCommand() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:   "pause ID",
		Short: "Let an evaluation stand still: what is in flight ends, nothing more begins",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.running(cmd.Context(), args[0], func(ctx context.Context, c client.Client, id string) error {
				reason := evaluation.Reason{Code: evaluation.ReasonOperator, Message: why}
				if err := c.SignalWorkflow(ctx, id, "", evaluation.SignalPause, evaluation.Pause{Reason: reason}); err != nil {
					return err
				}
				fmt.Fprintf(a.out, "evaluation %s: pausing; `starter resume %[1]s` lets it go on\n", id)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&why, "reason", "paused by the operator", "what status and the Web UI show")
	return cmd
}

func (a *app) resumeCommand() *cobra.Command {
	var maxCalls int
	var maxCost string
	cmd := &cobra.Command{
		Use:   "resume ID",
		Short: "Let a paused evaluation go on, once what it waits for is there",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.running(cmd.Context(), args[0], func(ctx context.Context, c client.Client, id string) error {
				budget, err := a.newBudget(ctx, id, maxCalls, maxCost)
				if err != nil {
					return err
				}
				return a.resume(ctx, c, id, budget)
			})
		},
	}
	cmd.Flags().IntVar(&maxCalls, "max-calls", 0, "the evaluation's new bound of calls in all, where it has one")
	cmd.Flags().StringVar(&maxCost, "max-cost", "", "its new bound of money in all, where it has one")
	return cmd
}

// newBudget reads a changed budget; what isn't given stays as it was. The error
// says when the evaluation has none to be changed.
func (a *app) newBudget(ctx context.Context, id string, maxCalls int, maxCost string) (evaluation.Budget, error) {
	if maxCalls == 0 && maxCost == "" {
		return evaluation.Budget{}, nil
	}
	_, store, err := a.openStore(ctx)
	if err != nil {
		return evaluation.Budget{}, err
	}
	m, _, err := store.Manifest(ctx, id)
	if err != nil {
		return evaluation.Budget{}, unknown(id, err)
	}
	budget := m.Spec.Budget
	if budget.IsZero() {
		return budget, usagef("evaluation %s began without a budget: resume it without --max-calls and --max-cost", id)
	}
	if maxCalls > 0 {
		budget.Calls = maxCalls
	}
	if maxCost != "" {
		if budget.Money, err = evaluation.ParseMoney(maxCost); err != nil {
			return budget, usagef("--max-cost: %w", err)
		}
	}
	if err := budget.Validate(m.Spec.Prices); err != nil {
		return budget, usageError{err}
	}
	return budget, nil
}

// resume names the pause that it ends, so that sent twice it resumes once.
func (a *app) resume(ctx context.Context, c client.Client, id string, budget evaluation.Budget) error {
	progress, err := overview.Progress(ctx, c, id)
	if err != nil {
		return fmt.Errorf("ask evaluation %s what it waits for: %w (is a worker with role workflows running?)", id, err)
	}
	if progress.Paused == nil {
		return fmt.Errorf("evaluation %s is not paused: %s", id, progress.Stage)
	}
	resume := evaluation.Resume{Generation: progress.Paused.Generation + 1, Budget: budget}
	if err := c.SignalWorkflow(ctx, id, "", evaluation.SignalResume, resume); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "evaluation %s: resumed after %s\n", id, progress.Paused.Code)
	return nil
}

// running does something to an evaluation that runs.
func (a *app) running(ctx context.Context, id string, do func(context.Context, client.Client, string) error) error {
	if err := evaluation.CheckID(id); err != nil {
		return usageError{err}
	}
	_, c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	err = do(ctx, c, evaluation.WorkflowID(id))
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return fmt.Errorf("no evaluation %q is running", id)
	}
	return err
}
