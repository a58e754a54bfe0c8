package score

import "github.com/speechmanip/speechmanip/internal/vote"

// Baseline is what a constant verdict scores.
type Baseline struct {
	Name           string         `json:"name"`    // "always-yes" or "majority"
	Verdict        vote.Verdict   `json:"verdict"` // what it always says
	Confusion      Confusion      `json:"confusion"`
	Classification Classification `json:"classification"`
}

// Baselines returns always-YES and the majority baseline on exactly the decided
// items of c, so that their accuracy stands beside that of the verdicts. The
// majority is that of these items' own truth, which no detector is told: the
// most that a constant verdict can reach. Equal halves give YES.
func Baselines(c Confusion) []Baseline {
	yes, no := c.Yes.Decided(), c.No.Decided()
	always := Confusion{Yes: Verdicts{Yes: yes}, No: Verdicts{Yes: no}}
	majority, verdict := always, vote.Yes
	if no > yes {
		majority, verdict = Confusion{Yes: Verdicts{No: yes}, No: Verdicts{No: no}}, vote.No
	}
	return []Baseline{
		{"always-yes", vote.Yes, always, Classify(always, Failed{})},
		{"majority", verdict, majority, Classify(majority, Failed{})},
	}
}
