package workflows

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func TestProgressDetails(t *testing.T) {
	got := progressDetails(evaluation.Progress{Stage: "evaluating", Total: 24, Counts: evaluation.Counts{
		Started: 9, Done: 6, Yes: 1, No: 2, Unresolved: 2, Failed: 1,
		Usage: evaluation.Usage{TurnsMade: 1, TurnsStored: 2, Characters: 3, ClipsMade: 4, ClipsStored: 5, Recognized: 6, RecognizedStored: 7, PassesMade: 8, PassesStored: 9, Questions: 10, Credits: 3},
	}}, 90*time.Second, evaluation.Prices{Currency: "USD", Credit: 300, DetectorCall: 400_000})
	want := `**evaluating**: 6 of 24 dialogues

| YES | NO | UNRESOLVED | failed | in flight |
|---|---|---|---|---|
| 1 | 2 | 2 | 1 | 3 |

240 dialogues an hour over 1m30s; the rest takes about 4m30s.

Made (and found stored): 1 (2) turns, 4 (5) clips, 6 (7) transcripts, 8 (9) detector answers; 3 characters spoken.

Cost: 11 calls, 4.0009 USD.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestVerdictDetails(t *testing.T) {
	record := activities.RecordTask{
		Clip: ref("clips/a.wav"),
		Judged: activities.Judged{
			Verdict: vote.Outcome{Verdict: vote.Yes, Yes: 3, No: 1, Invalid: 1},
			Tactic:  &vote.TacticOutcome{Tactic: tactic.Denial},
		},
	}
	want := "**YES**: 3 YES, 1 NO, 1 INVALID\n\nTactic: Denial\n\nClip: `clips/a.wav`\n"
	if diff := cmp.Diff(want, verdictDetails(record)); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}
