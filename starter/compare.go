package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/compare"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
)

// regressionError is a loss that may not be: exit code 3.
type regressionError struct{ error }

func (a *app) compareCommand() *cobra.Command {
	var format string
	var limits []string
	cmd := &cobra.Command{
		Use:   "compare ID ID...",
		Short: "Compare evaluations of the same dialogues with the first of them",
		Long: `Compare evaluations of the same dialogues with the first of them, from what is stored:
differences with intervals and exact tests, the dialogues whose verdict flipped with
both evidences, and the settings that differ. Only dialogues with the same id, text and
truth in all of them are compared; the others are named.

With --fail-on-regression the exit code is 3 when the last evaluation has lost more than
is allowed against the first, with 95% confidence. What has no verdict is not right there.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("%s takes two evaluation ids or more (see `%[1]s --help`)", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.compare(cmd.Context(), args, format, limits) },
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or html (one page that stands alone)")
	cmd.Flags().StringArrayVar(&limits, "fail-on-regression", nil, "METRIC:DELTA, e.g. recall:0.05; METRIC is recall, specificity, balanced_accuracy or accuracy. May be given several times")
	return cmd
}

func (a *app) compare(ctx context.Context, ids []string, format string, checks []string) error {
	write, ok := map[string]func(io.Writer, compare.Comparison) error{
		"text": compare.WriteText,
		"json": compare.WriteJSON,
		"html": compare.WriteHTML,
	}[format]
	var errs []error
	if !ok {
		errs = append(errs, fmt.Errorf("--format %q: use text, json or html", format))
	}
	var limits []compare.Limit
	for _, s := range checks {
		limit, err := compare.ParseLimit(s)
		if err != nil {
			errs = append(errs, fmt.Errorf("--fail-on-regression: %w", err))
		}
		limits = append(limits, limit)
	}
	for _, id := range ids {
		errs = append(errs, evaluation.CheckID(id))
	}
	if err := errors.Join(errs...); err != nil {
		return usageError{err}
	}
	_, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	var reports []report.Report
	for _, id := range ids {
		built, err := store.Report(ctx, id)
		if err != nil {
			return unknown(id, err)
		}
		reports = append(reports, built)
	}
	compared, err := compare.Build(reports)
	if err != nil {
		return err
	}
	failures := a.check(&compared, limits, format)
	if err := write(a.out, compared); err != nil {
		return err
	}
	return failures
}

// check measures every limit and says what it found, where the comparison's own form
// is not read by people.
func (a *app) check(c *compare.Comparison, limits []compare.Limit, format string) error {
	var regressions, errs []error
	for _, limit := range limits {
		loss, err := c.Check(limit)
		switch {
		case err != nil:
			errs = append(errs, err)
		case loss.Shown:
			regressions = append(regressions, errors.New(loss.Sentence()))
		case format != "text":
			fmt.Fprintln(a.err, loss.Sentence())
		}
	}
	if len(regressions) > 0 {
		return regressionError{errors.Join(append(regressions, errs...)...)}
	}
	return errors.Join(errs...)
}
