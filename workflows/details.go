package workflows

import (
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// progressDetails is the Markdown that the Web UI shows of an evaluation or
// chunk.
func progressDetails(p evaluation.Progress) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %d of %d dialogues\n\n", p.Stage, p.Done, p.Total)
	b.WriteString("| YES | NO | UNRESOLVED | failed | in flight |\n|---|---|---|---|---|\n")
	fmt.Fprintf(&b, "| %d | %d | %d | %d | %d |\n\n", p.Yes, p.No, p.Unresolved, p.Failed, p.Started-p.Done)
	u := p.Usage
	fmt.Fprintf(&b, "Made (and found stored): %d (%d) turns, %d (%d) clips, %d (%d) transcripts, %d (%d) detector answers; %d characters spoken.\n",
		u.TurnsMade, u.TurnsStored, u.ClipsMade, u.ClipsStored, u.Recognized, u.RecognizedStored, u.PassesMade, u.PassesStored, u.Characters)
	return b.String()
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
