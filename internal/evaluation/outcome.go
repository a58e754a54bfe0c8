package evaluation

import (
	"time"

	"github.com/speechmanip/speechmanip/internal/score"
)

// OutcomeSchema names the shape of an outcome's JSON.
const OutcomeSchema = "speechmanip.outcome/1"

// Outcome is what a scheduled evaluation found against the schedule's baseline and
// against the one before it.
type Outcome struct {
	Schema     string    `json:"schema"`
	Schedule   string    `json:"schedule"`
	Evaluation string    `json:"evaluation"`
	Look       int       `json:"look"` // at the schedule's evaluations, counted from 1
	Due        time.Time `json:"due"`

	Regression Regression `json:"regression"`
	Drift      Drift      `json:"drift"`
	Against    []Against  `json:"against"` // the baseline first, then the look before

	Items      int       `json:"items"`
	Failed     int       `json:"failed"`
	Unresolved int       `json:"unresolved"` // with truth and unseen
	Figures    []Tracked `json:"figures"`
	Usage      Usage     `json:"usage"`
}

// Regression says whether more was lost than is allowed. It is the value of the
// search attribute too.
type Regression string

// The regressions.
const (
	RegressionShown     Regression = "shown"
	RegressionNone      Regression = "none" // none was shown, which is not that there is none
	RegressionUnchecked Regression = "unchecked"
)

// Against is a comparison with one earlier evaluation.
type Against struct {
	Evaluation string       `json:"evaluation"`
	Baseline   bool         `json:"baseline"` // of the schedule; else it is the look before
	Paired     int          `json:"paired"`
	Flips      int          `json:"flips"`
	Checks     []score.Loss `json:"checks"` // one a limit, as far as they could be made
	Unchecked  []string     `json:"unchecked,omitempty"`
}

// Tracked is a figure that is followed over time, with its 95% interval.
type Tracked struct {
	Name  string       `json:"name"`
	N     int          `json:"n"`
	Value score.Figure `json:"value"`
	Low   score.Figure `json:"low"`
	High  score.Figure `json:"high"`
}

// Cause is what has changed since the baseline.
type Cause string

// The causes.
const (
	CauseNone    Cause = "nothing" // nothing that was looked at
	CauseModel   Cause = "model"
	CauseData    Cause = "data"
	CauseBoth    Cause = "model and data"
	CauseUnknown Cause = "unknown" // the canary says nothing
)

// Drift says what has changed since the baseline, beside the figures.
type Drift struct {
	Cause  Cause          `json:"cause"`
	Server []ServerChange `json:"server"` // what the detector says of itself that it did not say then
	Canary Canary         `json:"canary"`
	Data   DataChange     `json:"data"`
}

// Canary compares answers about the same clips with those that the baseline had.
type Canary struct {
	Items   int  `json:"items"`
	Missing int  `json:"missing"` // without an answer now
	Changed bool `json:"changed"`
	// Of those whose probability was observed then and now:
	Observed  int          `json:"observed"`
	Shift     score.Figure `json:"shift"`     // mean absolute, of the probability of YES
	Threshold float64      `json:"threshold"` // above it the model has changed
	// Of those of which votes alone are known, by an exact test:
	Counted int          `json:"counted"`
	P       score.Figure `json:"p"`
	Level   float64      `json:"level"` // below it the model has changed; smaller with every look
}

// DataChange counts the dialogues that are not what the baseline judged.
type DataChange struct {
	Missing int `json:"missing"` // judged then, not now
	Added   int `json:"added"`
	Other   int `json:"other"` // with another text, truth or clip
}
