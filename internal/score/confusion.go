package score

import (
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Verdicts counts the verdicts of one truth set.
type Verdicts struct {
	Yes        int `json:"yes"`
	No         int `json:"no"`
	Unresolved int `json:"unresolved"`
}

// Decided returns how many verdicts are YES or NO.
func (v Verdicts) Decided() int { return v.Yes + v.No }

// Confusion counts verdicts by truth: Confusion.Yes.No are the manipulative
// clips that were called NO.
type Confusion struct {
	Yes Verdicts `json:"yes"` // truth YES
	No  Verdicts `json:"no"`  // truth NO
}

// Failed counts the items without a verdict by truth.
type Failed struct {
	Yes int `json:"yes"`
	No  int `json:"no"`
}

// Tally counts a set of items: N is the sum of the confusion and of Failed.
type Tally struct {
	N          int       `json:"n"`
	Confusion  Confusion `json:"confusion"`
	Failed     Failed    `json:"failed"`
	Unlabelled int       `json:"unlabelled"` // items without ground truth; in no other count
}

// Count tallies items.
func Count(items []Item) Tally {
	var t Tally
	for _, it := range items {
		var row *Verdicts
		var failed *int
		switch it.Truth {
		case dialogue.Yes:
			row, failed = &t.Confusion.Yes, &t.Failed.Yes
		case dialogue.No:
			row, failed = &t.Confusion.No, &t.Failed.No
		default:
			t.Unlabelled++
			continue
		}
		t.N++
		switch {
		case it.failed():
			*failed++
		case it.Verdict == vote.Yes:
			row.Yes++
		case it.Verdict == vote.No:
			row.No++
		default:
			row.Unresolved++
		}
	}
	return t
}
