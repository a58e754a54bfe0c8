package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
)

func (a *app) reportCommand() *cobra.Command {
	var format, out, bundle string
	var add additions
	cmd := &cobra.Command{
		Use:   "report ID",
		Short: "Print an evaluation's report from what is stored now",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.report(cmd.Context(), args[0], format, out, bundle, add)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json, html (one page that needs no network), csv (one row a dialogue), or the paper's tables as markdown or latex")
	add.flags(cmd.Flags())
	cmd.Flags().StringVar(&out, "out", "", "also write all files of the report below this folder")
	cmd.Flags().StringVar(&bundle, "bundle", "", "write all files of the report below this folder with the clips, so that the page plays them beside their text")
	cmd.MarkFlagsMutuallyExclusive("out", "bundle")
	return cmd
}

func (a *app) report(ctx context.Context, id, format, out, bundle string, add additions) error {
	writer, ok := map[string]report.Writer{
		"text":     report.WriteText,
		"json":     report.WriteJSON,
		"html":     report.WriteHTML,
		"csv":      report.WriteDialoguesCSV,
		"markdown": report.WriteMarkdown,
		"latex":    report.WriteLaTeX,
	}[format]
	if !ok {
		return usagef("--format %q: use text, json, html, csv, markdown or latex", format)
	}
	if err := evaluation.CheckID(id); err != nil {
		return usageError{err}
	}
	addTo, err := a.readAdditions(add)
	if err != nil {
		return err
	}
	_, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	built, err := store.Report(ctx, id)
	if err != nil {
		return unknown(id, err)
	}
	addTo(&built)
	if err := writer(a.out, built); err != nil {
		return err
	}
	folder, gone := "", 0
	switch {
	case bundle != "":
		folder, gone, err = writeBundle(ctx, store, bundle, built)
	case out != "":
		folder, err = writeFiles(out, id, built)
	}
	if err != nil || folder == "" {
		return err
	}
	fmt.Fprintf(a.err, "report: %s\n", folder)
	if gone > 0 {
		fmt.Fprintf(a.err, "clips that the store doesn't have any more: %d\n", gone)
	}
	return nil
}
