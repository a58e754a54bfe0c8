package evaluation

import "time"

// Reason is why nothing can go on until a person acts.
type Reason struct {
	Code    string `json:"code"`    // short and machine-readable, e.g. "quota_exceeded"
	Message string `json:"message"` // what is missing, for a person
}

// Reasons that no provider gives.
const (
	ReasonBudget   = "budget_exceeded"
	ReasonOperator = "operator"
	ReasonFailures = "too_many_failures"
)

// Pause says why an evaluation stands still. Generation counts the resumptions
// before it.
type Pause struct {
	Reason
	Generation int       `json:"generation"`
	Since      time.Time `json:"since,omitzero"`
}

// Blocked tells a parent that work waits for a person. One that was sent before
// the last resumption, of an older generation, is stale.
type Blocked struct {
	Reason
	From       string `json:"from"` // the workflow id of what is blocked
	Generation int    `json:"generation"`
	Missing    Cost   `json:"missing,omitzero"` // of ReasonBudget: what the chunk still expects to take
}

// Resume lets blocked work of older generations go on.
type Resume struct {
	Generation int    `json:"generation"`
	Budget     Budget `json:"budget,omitzero"` // from the operator: the new one; zero leaves it as it is
}
