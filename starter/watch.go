package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/overview"
	"github.com/speechmanip/speechmanip/internal/report"
)

const (
	pollInterval   = time.Second
	patientAfter   = time.Minute      // then the rest takes a while,
	patientPoll    = 5 * time.Second  // and each query is an action on Temporal Cloud's bill
	adviceInterval = 10 * time.Second // how often queues without a poller are named
)

func (a *app) watchCommand() *cobra.Command {
	var options followOptions
	cmd := &cobra.Command{
		Use:   "watch ID",
		Short: "Follow an evaluation to its end and print its report",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := evaluation.CheckID(args[0]); err != nil {
				return usageError{err}
			}
			cfg, store, err := a.openStore(ctx)
			if err != nil {
				return err
			}
			c, err := a.dial(ctx, cfg)
			if err != nil {
				return err
			}
			defer c.Close()
			return a.follow(ctx, cfg, c, store, args[0], options)
		},
	}
	cmd.Flags().BoolVar(&options.json, "json", false, "print the report as JSON, progress to stderr")
	cmd.Flags().StringVar(&options.out, "out", "reports", "folder for the report's files")
	return cmd
}

// unknown says what to do about an id that the store doesn't have.
func unknown(id string, err error) error {
	if errors.Is(err, objectstore.ErrNotFound) {
		return fmt.Errorf("no evaluation %q: `starter list` shows those there are", id)
	}
	return err
}

type followOptions struct {
	json bool
	out  string
}

// follow shows an evaluation's progress to its end, then its report. When ctx
// ends (Ctrl-C) it detaches: the evaluation goes on.
func (a *app) follow(ctx context.Context, cfg config.Config, c client.Client, store archive.Archive, id string, options followOptions) error {
	manifest, _, err := store.Manifest(ctx, id)
	if err != nil {
		return unknown(id, err)
	}
	status, err := a.wait(ctx, c, manifest)
	if ctx.Err() != nil {
		fmt.Fprintf(a.err, "\ndetached: the evaluation goes on; come back with: starter watch %s\n", id)
		return nil
	}
	if err != nil {
		return err
	}
	built, err := store.Report(ctx, id)
	if err != nil {
		return err
	}
	if options.json {
		err = report.WriteJSON(a.out, built)
	} else {
		err = report.WriteText(a.out, built)
	}
	if err != nil {
		return err
	}
	folder, err := writeFiles(options.out, id, built)
	if err != nil {
		return err
	}
	if !options.json {
		a.farewell(cfg, id, folder)
	}
	if status != enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED {
		return fmt.Errorf("evaluation %s ended as %s%s", id, status, a.cause(ctx, c, id))
	}
	return nil
}

func (a *app) farewell(cfg config.Config, id, folder string) {
	fmt.Fprintf(a.out, `
report:   %s
web:      %s
next:     starter report %[3]s --format csv          one row a dialogue
          starter evaluate --dataset FILE --limit 20    your own dialogues
          starter baseline train --dataset FILE --out MODEL, then evaluate --model MODEL
          starter list                                  all evaluations
`, folder, webLink(cfg, evaluation.WorkflowID(id), ""), id)
}

// cause is why an evaluation failed, as far as Temporal knows.
func (a *app) cause(ctx context.Context, c client.Client, id string) string {
	err := c.GetWorkflow(ctx, evaluation.WorkflowID(id), "").Get(ctx, nil)
	if err == nil {
		return ""
	}
	return ": " + rootCause(err)
}

// wait polls until the workflow has ended and returns how.
func (a *app) wait(ctx context.Context, c client.Client, m evaluation.Manifest) (enumspb.WorkflowExecutionStatus, error) {
	id := evaluation.WorkflowID(m.Spec.ID)
	display := display{out: a.err, terminal: isTerminal(a.err)}
	defer display.end()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	began := time.Now()
	lastChange, lastDone := time.Time{}, -1
	for {
		described, err := c.DescribeWorkflow(ctx, id, "")
		var notFound *serviceerror.NotFound
		switch {
		case errors.As(err, &notFound):
			return 0, fmt.Errorf("evaluation %s is not in Temporal any more: `starter report %[1]s` shows what is stored", m.Spec.ID)
		case err != nil && ctx.Err() == nil:
			// A restart of the server: the evaluation outlives it.
			display.line("waiting for Temporal to answer")
		case err == nil:
			status := described.Status
			progress, err := overview.Progress(ctx, c, id)
			var noKey *codec.KeyError
			if errors.As(err, &noKey) {
				return 0, noKey
			}
			if err == nil {
				display.progress(progress)
				if progress.Paused != nil {
					display.line(pausedLine(m.Spec.ID, *progress.Paused))
				}
			}
			if status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
				return status, nil
			}
			if err == nil && progress.Done != lastDone {
				lastDone, lastChange = progress.Done, time.Now()
			}
			if time.Since(lastChange) > adviceInterval {
				lastChange = time.Now()
				for _, q := range unserved(ctx, c, queuesOf(m.Spec)) {
					display.line(q.String())
				}
			}
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-ticker.C:
			if time.Since(began) > patientAfter {
				ticker.Reset(patientPoll)
			}
		}
	}
}

// writeFiles writes the report's files into a folder of the evaluation's own.
func writeFiles(dir, id string, r report.Report) (string, error) {
	folder := filepath.Join(dir, evaluation.EncodeID(id))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	for _, file := range report.Files() {
		if err := writeFile(filepath.Join(folder, file.Name), func(w io.Writer) error { return file.Write(w, r) }); err != nil {
			return "", fmt.Errorf("write report: %w", err)
		}
	}
	return folder, nil
}

// writeFile writes a whole file or none.
func writeFile(path string, write func(io.Writer) error) error {
	return writeWhole(path, 0o644, write)
}

// writePrivate does so for its owner alone: of what holds a key to something else.
func writePrivate(path string, write func(io.Writer) error) error {
	return writeWhole(path, 0o600, write)
}

func writeWhole(path string, mode os.FileMode, write func(io.Writer) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if err := write(temp); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(temp.Name(), mode); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
