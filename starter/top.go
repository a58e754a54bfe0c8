package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/overview"
)

// lookTimeout bounds one look, so that a server that is away shows as such.
const lookTimeout = 15 * time.Second

func (a *app) topCommand() *cobra.Command {
	var once, asJSON bool
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show live what runs: evaluations, queues, workers, rates, errors",
		Long: `Show, again and again until Ctrl-C, the evaluations that run with their stages, rates and
failures, and every queue with who polls it and what waits. A rate is that since the
last look; the first is the average since the beginning.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if interval < time.Second {
				return usagef("--interval is %s, must be at least 1s: every look asks the workers", interval)
			}
			return a.top(cmd.Context(), interval, once || asJSON, asJSON)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "look once")
	cmd.Flags().BoolVar(&asJSON, "json", false, "look once and print JSON for scripts")
	cmd.Flags().DurationVar(&interval, "interval", 2*time.Second, "between looks")
	return cmd
}

func (a *app) top(ctx context.Context, interval time.Duration, once, asJSON bool) error {
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
	screen := screen{out: a.out, terminal: isTerminal(a.out)}
	var before overview.View
	for {
		bounded, cancel := context.WithTimeout(ctx, lookTimeout)
		view, err := from.Look(bounded)
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil // Ctrl-C
		case once && len(view.Queues) == 0 && err != nil:
			return err // nothing could be seen
		case asJSON:
			if err != nil {
				fmt.Fprintf(a.err, "note: not all could be seen: %v\n", err)
			}
			return json.NewEncoder(a.out).Encode(view)
		}
		screen.show(func(to io.Writer) { printTop(to, cfg.Temporal.Namespace, view, before, err) })
		if once {
			return nil
		}
		before = view
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(interval):
		}
	}
}

// screen shows one frame in place of the last one on a terminal, and below it
// elsewhere.
type screen struct {
	out      io.Writer
	terminal bool
	begun    bool
}

func (s *screen) show(print func(io.Writer)) {
	var frame bytes.Buffer
	print(&frame)
	text := frame.Bytes()
	switch {
	case s.terminal:
		// Written over the last frame line by line, and in one piece: nothing flickers.
		text = append([]byte("\033[H"), bytes.ReplaceAll(text, []byte("\n"), []byte("\033[K\n"))...)
		text = append(text, "\033[J"...)
		if !s.begun {
			text = append([]byte("\033[2J"), text...)
		}
	case s.begun:
		text = append([]byte("\n"), text...)
	}
	s.begun = true
	_, _ = s.out.Write(text) // a terminal that is gone ends the command by itself
}
