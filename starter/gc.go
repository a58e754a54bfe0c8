package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/archive"
)

func (a *app) gcCommand() *cobra.Command {
	var olderThan time.Duration
	var del, asJSON bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "List what no evaluation refers to, or delete it with --delete",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if olderThan < archive.MinGarbageAge {
				return usagef("--older-than %s: at least %s, as what is younger may be about to be used", olderThan, archive.MinGarbageAge)
			}
			return a.gc(cmd.Context(), olderThan, del, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&olderThan, "older-than", 7*24*time.Hour, "leave alone what was written since")
	flags.BoolVar(&del, "delete", false, "delete what is listed")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// garbageReport is what gc prints.
type garbageReport struct {
	OlderThan string                 `json:"older_than"`
	Found     map[string]garbageSize `json:"found"` // by prefix
	Uploads   int                    `json:"uploads"`
	Deleted   map[string]garbageSize `json:"deleted,omitempty"`
	Aborted   int                    `json:"uploads_aborted,omitempty"`
	Kept      []string               `json:"kept,omitempty"`
}

type garbageSize struct {
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

func (a *app) gc(ctx context.Context, olderThan time.Duration, del, asJSON bool) error {
	_, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	collector := archive.Collector{Archive: store, Now: time.Now, OlderThan: olderThan}
	found, err := collector.Find(ctx)
	if err != nil {
		return err
	}
	report := garbageReport{OlderThan: olderThan.String(), Found: sizes(found), Uploads: len(found.Uploads), Kept: found.Kept}
	var failed error
	if del {
		var gone archive.Garbage
		gone, failed = collector.Delete(ctx, found)
		report.Deleted, report.Aborted = sizes(gone), len(gone.Uploads)
	}
	if asJSON {
		if err := json.NewEncoder(a.out).Encode(report); err != nil {
			return err
		}
		return failed
	}
	a.printGarbage(report, del)
	return failed
}

func sizes(g archive.Garbage) map[string]garbageSize {
	out := map[string]garbageSize{}
	for _, entry := range g.Objects {
		prefix, _, _ := strings.Cut(entry.Key, "/")
		size := out[prefix+"/"]
		size.Objects++
		size.Bytes += entry.Size
		out[prefix+"/"] = size
	}
	return out
}

func (a *app) printGarbage(r garbageReport, deleted bool) {
	for _, line := range r.Kept {
		fmt.Fprintln(a.out, "note:", line)
	}
	if len(r.Found) == 0 && r.Uploads == 0 {
		fmt.Fprintf(a.out, "nothing older than %s is without an evaluation that refers to it\n", r.OlderThan)
		return
	}
	fmt.Fprintf(a.out, "older than %s, and no evaluation refers to it:\n", r.OlderThan)
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\tobjects\tbytes\t")
	if deleted {
		fmt.Fprint(table, "deleted\t")
	}
	fmt.Fprintln(table)
	for _, prefix := range slices.Sorted(maps.Keys(r.Found)) {
		fmt.Fprintf(table, "%s\t%d\t%d\t", prefix, r.Found[prefix].Objects, r.Found[prefix].Bytes)
		if deleted {
			fmt.Fprintf(table, "%d\t", r.Deleted[prefix].Objects)
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush() // as all printing
	if r.Uploads > 0 {
		fmt.Fprintf(a.out, "broken-off uploads: %d", r.Uploads)
		if deleted {
			fmt.Fprintf(a.out, ", removed %d", r.Aborted)
		}
		fmt.Fprintln(a.out)
	}
	if !deleted {
		fmt.Fprintln(a.out, "nothing was deleted: `starter gc --delete` does that")
	}
}
