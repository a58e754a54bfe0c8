package compare

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

// Flip is a dialogue whose outcome is not the same in all evaluations.
type Flip struct {
	ID            string         `json:"id"`
	CastingNumber int            `json:"casting_number,omitempty"`
	Truth         dialogue.Truth `json:"truth,omitempty"`
	Outcomes      []Outcome      `json:"outcomes"` // in the order of the evaluations
}

// Outcome is what one evaluation says of a dialogue.
type Outcome struct {
	Verdict string        `json:"verdict"` // YES, NO, UNRESOLVED or failed
	Yes     int           `json:"yes"`     // votes; where none was drawn both are 0
	No      int           `json:"no"`
	Failure string        `json:"failure,omitempty"` // its code
	Tactic  tactic.Tactic `json:"tactic,omitempty"`
	Quote   string        `json:"quote,omitempty"`
	Start   float64       `json:"start,omitempty"` // of the quote, in seconds of the clip, where known
	End     float64       `json:"end,omitempty"`
}

func flips(paired []pairing) []Flip {
	out := []Flip{}
	for _, p := range paired {
		f := Flip{ID: p[0].ID, CastingNumber: p.castingNumber(), Truth: p.truth()}
		differs := false
		for _, d := range p {
			f.Outcomes = append(f.Outcomes, outcome(d))
			differs = differs || f.Outcomes[0].Verdict != f.Outcomes[len(f.Outcomes)-1].Verdict
		}
		if differs {
			out = append(out, f)
		}
	}
	return out
}

func outcome(d report.Dialogue) Outcome {
	if d.Failure != nil {
		return Outcome{Verdict: "failed", Failure: d.Failure.Code}
	}
	o := Outcome{Verdict: string(d.Verdict.Verdict), Yes: d.Verdict.Yes, No: d.Verdict.No}
	if d.Tactic != nil {
		o.Tactic = d.Tactic.Tactic
	}
	if d.Evidence != nil {
		o.Quote, o.Start, o.End = d.Evidence.Text, d.Evidence.Start, d.Evidence.End
	}
	return o
}

// votes is how the passes voted; "" where none was drawn.
func (o Outcome) votes() string {
	if o.Yes+o.No == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%d", o.Yes, o.No)
}
