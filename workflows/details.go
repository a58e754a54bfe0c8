package workflows

import (
	"fmt"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// progressDetails is the Markdown that the Web UI shows of an evaluation or
// chunk.
func progressDetails(p evaluation.Progress) string {
	u := p.Usage
	// Not Fprintf: workflowcheck takes writing to any io.Writer for input and output.
	text := ""
	if p.Paused != nil {
		text = pauseDetails(p.Paused.Reason) + "\n"
	}
	return text + fmt.Sprintf("**%s**: %d of %d dialogues\n\n", p.Stage, p.Done, p.Total) +
		"| YES | NO | UNRESOLVED | failed | in flight |\n|---|---|---|---|---|\n" +
		fmt.Sprintf("| %d | %d | %d | %d | %d |\n\n", p.Yes, p.No, p.Unresolved, p.Failed, p.Started-p.Done) +
		fmt.Sprintf("Made (and found stored): %d (%d) turns, %d (%d) clips, %d (%d) transcripts, %d (%d) detector answers; %d characters spoken.\n",
			u.TurnsMade, u.TurnsStored, u.ClipsMade, u.ClipsStored, u.Recognized, u.RecognizedStored, u.PassesMade, u.PassesStored, u.Characters)
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
