// Package study plans how people judge the items of an evaluation, and decides what
// comes next as they do: who gets which batch, when an item is closed, who adjudicates
// a tie, and what looks careless. It is pure: the workflows hold its State.
package study

import (
	"fmt"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Study is the stored beginning of a study: what is judged, by whom, in which order.
// It is written once, and holds no name of a person: annotators are pseudonyms.
type Study struct {
	ID         string          `json:"id"`
	Evaluation string          `json:"evaluation"` // whose items these are
	Created    time.Time       `json:"created"`
	Lines      objectstore.Ref `json:"lines"` // the dataset, of which Item.Line is a part
	Items      []Item          `json:"items"` // numbered from 0; everywhere else an item is its number
	Design     Design          `json:"design"`
	Rules      Rules           `json:"rules"`
	// Listening has the page ask of every clip how natural it sounds, and whether each
	// speaker kept one voice.
	Listening bool `json:"listening,omitempty"`
	// Guidelines is what annotators read before the first item, plain text with blank
	// lines between paragraphs; "" is the page's own.
	Guidelines string `json:"guidelines,omitempty"`
}

// Item is what is judged. Annotators see its text or hear its clip, and nothing else
// of it: neither ID, Truth nor keys may reach them.
type Item struct {
	ID       string           `json:"id"` // the dataset's
	Truth    dialogue.Truth   `json:"truth,omitempty"`
	Line     evaluation.Slice `json:"line"`             // of Study.Lines: the dialogue
	Clip     objectstore.Ref  `json:"clip,omitzero"`    // where audio is judged
	Seconds  float64          `json:"seconds,omitzero"` // of the clip
	Expected annotation.Label `json:"expected,omitempty"`
}

// IsCheck reports whether the item is an attention check: one whose answer is plain,
// shown like the others and no part of any result.
func (i Item) IsCheck() bool { return i.Expected != "" }

// Rules say what counts. They are data, and printed with every result.
type Rules struct {
	MinVotes int             `json:"min_votes"` // an item's quorum in each modality
	Majority annotation.Rule `json:"majority"`

	RemindAfter time.Duration `json:"remind_after"` // without a judgment in an open batch; 0 never
	Deadline    time.Duration `json:"deadline"`     // of a batch, from when it is opened; 0 none

	// What looks careless: flagged, never dropped.
	MinMillis   int `json:"min_millis"`   // the least time for a judgment
	StraightRun int `json:"straight_run"` // so many equal answers in a row; 0 never
}

// DefaultRules are those of a study that sets none.
func DefaultRules() Rules {
	return Rules{MinVotes: 3, RemindAfter: 3 * 24 * time.Hour, Deadline: 14 * 24 * time.Hour, MinMillis: 3000, StraightRun: 10}
}

// Check returns an error when the rules make no sense.
func (r Rules) Check() error {
	switch {
	case r.MinVotes < 1:
		return fmt.Errorf("a quorum of %d votes: use at least 1", r.MinVotes)
	case r.RemindAfter < 0 || r.Deadline < 0:
		return fmt.Errorf("a reminder after %s and a deadline after %s: neither may be negative", r.RemindAfter, r.Deadline)
	case r.MinMillis < 0 || r.StraightRun < 0:
		return fmt.Errorf("%d ms for a judgment and %d equal answers in a row: neither may be negative", r.MinMillis, r.StraightRun)
	}
	return r.Majority.Check()
}
