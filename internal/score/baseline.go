package score

import "github.com/speechmanip/speechmanip/internal/vote"

// The baselines' names.
const (
	AlwaysYes = "always-yes" // says YES
	Majority  = "majority"   // says the items' more frequent truth
	Duration  = "duration"   // looks at the length of the clip alone
)

// Baseline is what a rule that hears nothing of what is said scores.
type Baseline struct {
	Name           string         `json:"name"`
	Verdict        vote.Verdict   `json:"verdict,omitempty"` // what a constant one always says
	Confusion      Confusion      `json:"confusion"`
	Classification Classification `json:"classification"`
	Undefined      string         `json:"undefined,omitempty"` // why there is none
	// Fitted is the balanced accuracy of the best rule on length, chosen with these
	// very items: the most that length alone could reach on them.
	Fitted *Figure `json:"fitted_balanced_accuracy,omitempty"`
}

// Baselines returns always-YES, the majority and the duration baseline on exactly
// the decided items, so that their figures stand beside those of the verdicts. The
// majority is that of these items' own truth, which no detector is told: the most
// that a constant verdict can reach. Equal halves give YES.
func Baselines(items []Item) []Baseline {
	c := Count(items).Confusion
	yes, no := c.Yes.Decided(), c.No.Decided()
	always := Confusion{Yes: Verdicts{Yes: yes}, No: Verdicts{Yes: no}}
	majority, verdict := always, vote.Yes
	if no > yes {
		majority, verdict = Confusion{Yes: Verdicts{No: yes}, No: Verdicts{No: no}}, vote.No
	}
	length, fitted, reason := byDuration(items)
	return []Baseline{
		{Name: AlwaysYes, Verdict: vote.Yes, Confusion: always, Classification: Classify(always, Failed{})},
		{Name: Majority, Verdict: verdict, Confusion: majority, Classification: Classify(majority, Failed{})},
		{Name: Duration, Confusion: length, Classification: Classify(length, Failed{}), Undefined: reason, Fitted: fitted},
	}
}
