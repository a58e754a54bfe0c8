package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

func (a *app) reportCommand() *cobra.Command {
	var to reportFiles
	var format string
	var add additions
	cmd := &cobra.Command{
		Use:   "report ID",
		Short: "Print an evaluation's report from what is stored now",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.report(cmd.Context(), args[0], format, to, add)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json, html (one page that needs no network), csv (one row a dialogue), or the paper's tables as markdown or latex")
	add.flags(cmd.Flags())
	cmd.Flags().StringVar(&to.out, "out", "", "also write all files of the report below this folder")
	cmd.Flags().StringVar(&to.bundle, "bundle", "", "write all files of the report below this folder, or into this .zip, with the clips, so that the page plays them beside their text")
	cmd.Flags().DurationVar(&to.links, "links", 0, "have the page play the clips from the store, beside their text, through links that whoever has the page can follow for so long, e.g. 24h; at most "+objectstore.MaxPresign.String())
	cmd.MarkFlagsMutuallyExclusive("out", "bundle")
	cmd.MarkFlagsMutuallyExclusive("links", "bundle")
	return cmd
}

// reportFiles says what is written of a report beside what is printed.
type reportFiles struct {
	out, bundle string
	links       time.Duration // of the page; 0 is none
}

func (a *app) report(ctx context.Context, id, format string, to reportFiles, add additions) error {
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
	if err := to.checkLinks(format); err != nil {
		return err
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
	page, gone := report.WriteHTML, 0
	if to.links > 0 {
		if page, gone, err = linkedPage(ctx, store, built, to.links); err != nil {
			return err
		}
	}
	if format == "html" {
		writer = page
	}
	if err := writer(a.out, built); err != nil {
		return err
	}
	at := ""
	switch {
	case to.bundle != "":
		at, gone, err = writeBundle(ctx, store, to.bundle, built)
	case to.out != "":
		at, err = writeFiles(to.out, id, built)
	}
	if err == nil && to.links > 0 && at != "" {
		err = writePrivate(filepath.Join(at, bundlePage), func(w io.Writer) error { return page(w, built) })
	}
	if err != nil {
		return err
	}
	if at != "" {
		fmt.Fprintf(a.err, "report: %s\n", at)
	}
	if gone > 0 {
		fmt.Fprintf(a.err, "clips that the store doesn't have any more: %d\n", gone)
	}
	return nil
}
