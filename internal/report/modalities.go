package report

import (
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Modalities compares judging the clips with judging the same dialogues' turns as
// written. Its differences are of pairs alone: never of all clips and all texts.
type Modalities struct {
	Text    Judged                `json:"text"`    // of the same items as the headline
	Paired  int                   `json:"paired"`  // of those, with a verdict by both, UNRESOLVED too
	Gaps    score.Gaps            `json:"gaps"`    // audio minus text
	Dropped []evaluation.Excluded `json:"dropped"` // not in the gaps' N
}

// Judged is the result in one modality, and how the detector came to it.
type Judged struct {
	score.Result
	Answers
	Measures
}

// compareModalities takes all dialogues of an evaluation of both modalities.
func compareModalities(dialogues []Dialogue, spec evaluation.Spec) *Modalities {
	out := Modalities{Text: Judged{Answers: answers(dialogues, written, spec.Rules)}, Dropped: []evaluation.Excluded{}}
	unseen, _ := score.Split(items(dialogues, written))
	out.Text.Result = score.Score(unseen)
	out.Text.Measures = measure(dialogues, written, out.Text.Result, spec)
	var pairs []score.Pair
	for _, d := range dialogues {
		if d.Seen || d.Truth == dialogue.Unknown {
			continue
		}
		clip, text := first(d), written(d)
		if reason := open(clip, text); reason != "" {
			out.Dropped = append(out.Dropped, evaluation.Excluded{ID: d.ID, Reason: reason})
		}
		if clip != nil && text != nil {
			pairs = append(pairs, score.Pair{ID: d.ID, Truth: d.Truth, First: clip.Verdict.Verdict, Second: text.Verdict.Verdict})
		}
	}
	out.Paired, out.Gaps = len(pairs), score.Compare(pairs)
	return &out
}

// open says why a dialogue is in no difference; "" when it is decided by both.
func open(clip, text *evaluation.Judgement) string {
	switch {
	case clip == nil && text == nil:
		return "failed"
	case clip == nil:
		return "not judged by its clip"
	case text == nil:
		return "not judged by its text"
	case clip.Verdict.Verdict == vote.Unresolved && text.Verdict.Verdict == vote.Unresolved:
		return "UNRESOLVED by both"
	case clip.Verdict.Verdict == vote.Unresolved:
		return "UNRESOLVED by its clip"
	case text.Verdict.Verdict == vote.Unresolved:
		return "UNRESOLVED by its text"
	default:
		return ""
	}
}
