package trend

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// HistorySchema names the shape of a history's JSON.
const HistorySchema = "speechmanip.trend/1"

// History is what became of a schedule's firings.
type History struct {
	Schema   string              `json:"schema"`
	Schedule evaluation.Schedule `json:"schedule"`
	// Actions is what Temporal counts; nil where it can't be asked, or doesn't know the
	// schedule any more.
	Actions *Actions `json:"actions,omitempty"`
	Firings []Row    `json:"firings"` // in the order in which they were due
}

// Actions is what Temporal counts of a schedule, in all its life.
type Actions struct {
	Taken   int `json:"taken"`
	Skipped int `json:"skipped"` // as one still ran
	// Missed could not be started within the catch-up window. Temporal may count one
	// more than once, each time it wakes up until the next is taken.
	Missed int         `json:"missed"`
	Paused bool        `json:"paused"`
	Note   string      `json:"note,omitempty"`
	Next   []time.Time `json:"next,omitempty"`
}

// Row is one firing that began.
type Row struct {
	evaluation.Firing
	State   string              `json:"state"` // done, or as Temporal has it: running, failed, ...; unknown
	Why     string              `json:"why,omitempty"`
	Outcome *evaluation.Outcome `json:"outcome,omitempty"`
}

// The states that are not Temporal's.
const (
	StateDone    = "done"
	StateUnknown = "unknown"
)

// NewHistory puts a schedule's firings and outcomes together.
func NewHistory(s evaluation.Schedule, firings []evaluation.Firing, outcomes []evaluation.Outcome) History {
	found := map[string]*evaluation.Outcome{}
	for i := range outcomes {
		found[outcomes[i].Evaluation] = &outcomes[i]
	}
	out := History{Schema: HistorySchema, Schedule: s, Firings: []Row{}}
	for _, f := range firings {
		row := Row{Firing: f, State: StateUnknown, Outcome: found[f.Evaluation]}
		if row.Outcome != nil {
			row.State = StateDone
		}
		out.Firings = append(out.Firings, row)
	}
	return out
}

// Add adds a firing that is not stored: it ended before it began to evaluate.
func (h *History) Add(r Row) {
	if slices.ContainsFunc(h.Firings, func(have Row) bool { return have.Evaluation == r.Evaluation }) {
		return
	}
	h.Firings = append(h.Firings, r)
	slices.SortStableFunc(h.Firings, func(a, b Row) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Evaluation, b.Evaluation))
	})
}

// Lines say how many firings there were and what became of them.
func (h History) Lines() []string {
	counts := map[string]int{}
	for _, r := range h.Firings {
		counts[r.State]++
	}
	states := make([]string, 0, len(counts))
	for state := range counts {
		states = append(states, state)
	}
	slices.Sort(states)
	line := fmt.Sprintf("%d firings", len(h.Firings))
	for i, state := range states {
		line += fmt.Sprintf("%s%d %s", map[bool]string{true: ": ", false: ", "}[i == 0], counts[state], state)
	}
	lines := []string{line}
	if h.Actions == nil {
		return append(lines, "skipped and missed: not known, as Temporal doesn't know the schedule or was not asked")
	}
	return append(lines,
		fmt.Sprintf("skipped: %d, as one still ran", h.Actions.Skipped),
		fmt.Sprintf("missed: %d by Temporal's count, as they could not be started within the catch-up window", h.Actions.Missed))
}

// WriteJSON writes all of a history, indented.
func WriteJSON(w io.Writer, h History) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(h)
}
