package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/overview"
)

// maxShown is how much of a text from outside is shown, in characters.
const maxShown = 160

// shown makes one line of a text from outside, without control characters.
func shown(text string) string {
	runes := []rune(text)
	if len(runes) > maxShown {
		return printable(string(runes[:maxShown])) + "..."
	}
	return printable(text)
}

// printTop prints one frame. Before is the last look, zero before the second; problem
// is what this one could not see.
func printTop(to io.Writer, namespace string, view, before overview.View, problem error) {
	fmt.Fprintf(to, "%s  namespace %s, %d evaluations run\n\n", view.At.Format(time.TimeOnly), shown(namespace), len(view.Evaluations))
	if len(view.Evaluations) > 0 {
		printRunning(to, view, before)
	}
	printBusy(to, view.Queues)
	if s := view.Schedules; s.Active+s.Paused > 0 {
		fmt.Fprintf(to, "\nschedules: %d active, %d paused; actions: %d taken, %d skipped, %d missed\n", s.Active, s.Paused, s.Taken, s.Skipped, s.Missed)
	}
	if problem != nil {
		fmt.Fprintf(to, "\nnot all could be seen: %s\n", shown(problem.Error()))
	}
}

func printRunning(to io.Writer, view, before overview.View) {
	table := tabwriter.NewWriter(to, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "EVALUATION\tDETECTOR\tSTAGE\tDONE\tYES\tNO\tUNRESOLVED\tFAILED\tIN FLIGHT\tPER SECOND\tLEFT")
	var notes []string
	for _, e := range view.Evaluations {
		p := e.Progress
		if p == nil {
			fmt.Fprintf(table, "%s\t%s\tno worker answers\t\t\t\t\t\t\t\t\n", shown(e.ID), shown(e.Detector))
			continue
		}
		stage := p.Stage
		if p.Paused != nil {
			stage = "paused"
			notes = append(notes, fmt.Sprintf("%s %s", shown(e.ID), shown(pausedLine(e.ID, *p.Paused))))
		}
		perSecond := rate(e, view.At, before)
		fmt.Fprintf(table, "%s\t%s\t%s\t%d/%d\t%d\t%d\t%d\t%d\t%d\t%.2f\t%s\n", shown(e.ID), shown(e.Detector), shown(stage),
			p.Done, p.Total, p.Yes, p.No, p.Unresolved, p.Failed, p.Started-p.Done, perSecond, left(*p, perSecond))
		u := p.Usage
		notes = append(notes, fmt.Sprintf("%s made (and found): %d (%d) turns, %d (%d) clips, %d (%d) transcripts, %d (%d) answers",
			shown(e.ID), u.TurnsMade, u.TurnsStored, u.ClipsMade, u.ClipsStored, u.Recognized, u.RecognizedStored, u.PassesMade, u.PassesStored))
	}
	_ = table.Flush() // into memory
	for _, note := range notes {
		fmt.Fprintln(to, note)
	}
	fmt.Fprintln(to)
}

// rate is how many dialogues end a second.
func rate(e overview.Evaluation, now time.Time, before overview.View) float64 {
	done, since := 0, e.Started
	for _, b := range before.Evaluations {
		if b.ID == e.ID && b.Progress != nil {
			done, since = b.Progress.Done, before.At
		}
	}
	if passed := now.Sub(since).Seconds(); passed > 0 {
		return float64(e.Progress.Done-done) / passed
	}
	return 0
}

// left is how long the rest takes at this rate.
func left(p evaluation.Progress, perSecond float64) string {
	if perSecond <= 0 || p.Paused != nil {
		return "unknown"
	}
	return time.Duration(float64(p.Total-p.Done) / perSecond * float64(time.Second)).Round(time.Second).String()
}

// printBusy prints the queues, and which of them nobody polls.
func printBusy(to io.Writer, queues []overview.Queue) {
	if len(queues) == 0 {
		return
	}
	printQueueTable(to, queues)
	for _, q := range queues {
		if len(q.Pollers) == 0 {
			fmt.Fprintf(to, "no worker polls queue %q for %s tasks\n", q.Name, q.Tasks)
		}
	}
}
