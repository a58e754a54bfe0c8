package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// print writes the estimate for people, each line with what it rests on.
func (e *estimated) print(out io.Writer) {
	castings := ""
	if e.Castings > 1 {
		castings = fmt.Sprintf(", each in %d castings,", e.Castings)
	}
	fmt.Fprintf(out, "%d dialogues of %s%s by %s, the most that is expected\n", e.Dialogues, e.Dataset, castings, e.Detector)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	line := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	if e.Exemplars > 0 {
		line("exemplars", "%d, shown in every prompt and spoken once", e.Exemplars)
	}
	line("to speak", "%d turns, %d characters", e.Turns, e.Characters)
	if e.Stored != nil {
		line("stored already", "%d turns, %d characters, %d clips", e.Stored.Turns, e.Stored.Characters, e.Stored.Clips)
	} else {
		line("stored already", "not checked: %s", e.NotChecked)
	}
	q := e.Questions
	line("to ask", "%d questions: %d prepare, %d decide, %d tactics, %d quotes; stored answers are not looked up", q.Total(), q.Prepare, q.Decide, q.Tactics, q.Quote)
	line("audio", "%.2f hours, at %.1f characters a second (%s)", e.AudioSeconds/3600, e.Rate.PerSecond, e.Rate.Source)
	if t := e.AudioTokens; t.VLLM > 0 {
		line("audio tokens", "%d on vLLM (25 a second), %d on llama-server (750 for each 30 s begun); the prompts' text comes on top", t.VLLM, t.LlamaServer)
	}
	if e.Prices.MilliCredits > 0 {
		line("credits", "%d, at %s a character", e.Credits, thousandths(e.Prices.MilliCredits))
	}
	if e.Prices.Currency == "" {
		line("money", "no price known: use --prices")
	} else {
		line("money", "%s: speech %s, detector %s", e.Prices.Amount(e.Total.Money), e.Speech.Money, e.Judging.Money)
	}
	line("calls", "%d", e.Total.Calls)
	line("Temporal", "%d actions, which Temporal Cloud bills", e.Actions)
	if !e.Budget.IsZero() {
		line("budget", "%s", e.verdict())
	}
	line("time", "about %s; these overlap, the longest counts: %s", duration(e.WallSeconds), e.atOnce())
}

func (e *estimated) verdict() string {
	bound := ""
	if e.Budget.Money > 0 {
		bound = e.Prices.Amount(e.Budget.Money)
	}
	if e.Budget.Calls > 0 {
		if bound != "" {
			bound += " and "
		}
		bound += fmt.Sprintf("%d calls", e.Budget.Calls)
	}
	if e.Exceeded {
		return bound + ": the evaluation may pause before its end"
	}
	return bound + ": enough"
}

func thousandths(n int64) string { return fmt.Sprintf("%d.%03d", n/1000, n%1000) }
