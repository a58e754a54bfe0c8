package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// display shows progress: one line that is rewritten on a terminal, a line for
// each change elsewhere.
type display struct {
	out      io.Writer
	terminal bool
	last     string // of both kinds
	counts   string // the last progress
}

func (d *display) progress(p evaluation.Progress) {
	text := fmt.Sprintf("%s: %d of %d dialogues (%d YES, %d NO, %d unresolved, %d failed), %d in flight; %d turns spoken, %d from the store",
		p.Stage, p.Done, p.Total, p.Yes, p.No, p.Unresolved, p.Failed, p.Started-p.Done, p.Usage.TurnsMade, p.Usage.TurnsStored)
	if text == d.counts {
		return
	}
	d.last, d.counts = text, text
	if d.terminal {
		d.rewrite(text)
		return
	}
	fmt.Fprintln(d.out, text)
}

// rewrite shows a line on a terminal in place of the last one.
func (d *display) rewrite(text string) {
	d.last = text
	fmt.Fprintf(d.out, "\r\033[K%s", text)
}

// line prints a line of its own, once until something else is shown.
func (d *display) line(text string) {
	if text == d.last {
		return
	}
	if d.terminal && d.last != "" {
		fmt.Fprintln(d.out)
	}
	d.last = text
	fmt.Fprintln(d.out, text)
}

// pausedLine says what an evaluation waits for, and how it goes on.
func pausedLine(id string, p evaluation.Pause) string {
	return fmt.Sprintf("paused since %s (%s): %s; then: starter resume %s", p.Since.Local().Format(time.DateTime), p.Code, p.Message, id)
}

// end leaves the cursor on a new line.
func (d *display) end() {
	if d.terminal && d.last != "" {
		fmt.Fprintln(d.out)
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// rootCause is the innermost message of a workflow's error, without Temporal's
// wrapping.
func rootCause(err error) string {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return application.Message()
	}
	return err.Error()
}
