package workflows

import (
	"fmt"
	"time"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// progressDetails is the Markdown that the Web UI shows of an evaluation or chunk
// that has run for so long.
func progressDetails(p evaluation.Progress, passed time.Duration, prices evaluation.Prices) string {
	u := p.Usage
	// Not Fprintf: workflowcheck takes writing to any io.Writer for input and output.
	text := ""
	if p.Paused != nil {
		text = pauseDetails(p.Paused.Reason) + "\n"
	}
	return text + fmt.Sprintf("**%s**: %d of %d dialogues\n\n", p.Stage, p.Done, p.Total) +
		"| YES | NO | UNRESOLVED | failed | in flight |\n|---|---|---|---|---|\n" +
		fmt.Sprintf("| %d | %d | %d | %d | %d |\n\n", p.Yes, p.No, p.Unresolved, p.Failed, p.Started-p.Done) +
		paceDetails(p, passed) +
		fmt.Sprintf("Made (and found stored): %d (%d) turns, %d (%d) clips, %d (%d) transcripts, %d (%d) detector answers; %d characters spoken.\n",
			u.TurnsMade, u.TurnsStored, u.ClipsMade, u.ClipsStored, u.Recognized, u.RecognizedStored, u.PassesMade, u.PassesStored, u.Characters) +
		costDetails(u, prices)
}

// paceDetails says how fast it goes and when the rest is done, at that pace.
func paceDetails(p evaluation.Progress, passed time.Duration) string {
	if p.Done == 0 || passed < time.Second {
		return ""
	}
	passed = passed.Round(time.Second)
	text := fmt.Sprintf("%d dialogues an hour over %s", time.Duration(p.Done)*time.Hour/passed, passed)
	if left := p.Total - p.Done; left > 0 && p.Paused == nil {
		text += fmt.Sprintf("; the rest takes about %s", (passed / time.Duration(p.Done) * time.Duration(left)).Round(time.Second))
	}
	return text + ".\n\n"
}

// costDetails says what was paid, where there are prices.
func costDetails(u evaluation.Usage, prices evaluation.Prices) string {
	cost := prices.Cost(u)
	if prices.Currency == "" || cost.Calls == 0 {
		return ""
	}
	return fmt.Sprintf("\nCost: %d calls, %s %s.\n", cost.Calls, cost.Money, prices.Currency)
}

// pauseDetails is the Markdown that the Web UI shows of what waits for a person.
func pauseDetails(r evaluation.Reason) string {
	return fmt.Sprintf("**paused** (%s): %s\n", r.Code, r.Message)
}

// verdictDetails is the Markdown that the Web UI shows of a finished dialogue.
func verdictDetails(r activities.RecordTask) string {
	v := r.Verdict
	text := fmt.Sprintf("**%s**: %d YES, %d NO, %d INVALID\n", v.Verdict, v.Yes, v.No, v.Invalid)
	if r.Tactic != nil {
		text += fmt.Sprintf("\nTactic: %s\n", r.Tactic.Tactic)
	}
	return text + fmt.Sprintf("\nClip: `%s`\n", r.Clip.Key)
}
