package study

import (
	"fmt"
	"slices"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// Judgment is one answer of an annotator, as their assignment keeps it.
type Judgment struct {
	Item   int              `json:"item"`
	Label  annotation.Label `json:"label"`
	Heard  bool             `json:"heard,omitempty"`  // the clip, to its end
	Millis int              `json:"millis,omitempty"` // from when the item was shown to the first answer, as the page measured it
	// Of a listening test, 0 and "" where it isn't asked for:
	Naturalness int              `json:"naturalness,omitempty"`  // 1 (bad) to 5 (excellent)
	SameSpeaker annotation.Label `json:"same_speaker,omitempty"` // each speaker kept one voice

	Time    time.Time `json:"time,omitzero"`     // of the answer that counts, set by the workflow
	Changes int       `json:"changes,omitempty"` // answers before it that were changed, set by the workflow
}

// Judge is the argument of UpdateJudge. The Update is refused, with nothing written,
// where Check or the assignment's state forbids it; otherwise it has completed when
// the judgment is durable. The same answer again changes nothing, another one
// replaces the first: so a page may send it as often as it likes.
type Judge struct {
	Annotator string              `json:"annotator"`
	Modality  annotation.Modality `json:"modality"`
	Judgment
}

// maxMillis bounds a time on an item: a page that lay open.
const maxMillis = 24 * 60 * 60 * 1000

// Check returns why a judgment is not one of this assignment, in a study with or
// without a listening test (which adjudicators are not asked).
func (j Judge) Check(a Assignment, listening bool) error {
	switch {
	case j.Annotator != a.Annotator || j.Modality != a.Modality:
		return fmt.Errorf("this assignment is %s's, in %s", a.Annotator, a.Modality)
	case !slices.Contains(a.Items, j.Item):
		return fmt.Errorf("item %d is not in this assignment", j.Item)
	case j.Label != annotation.Yes && j.Label != annotation.No:
		return fmt.Errorf("%.20q is no label (valid: YES, NO)", j.Label)
	case j.Millis < 0 || j.Millis > maxMillis:
		return fmt.Errorf("a judgment took %d ms: use 0 to %d", j.Millis, maxMillis)
	case a.Modality == annotation.Audio && !j.Heard:
		return fmt.Errorf("item %d has not been heard to its end", j.Item)
	}
	return j.checkListening(listening && a.Modality == annotation.Audio && a.Round == 0)
}

func (j Judge) checkListening(asked bool) error {
	switch {
	case !asked && (j.Naturalness != 0 || j.SameSpeaker != ""):
		return fmt.Errorf("this assignment asks for no listening test")
	case !asked:
		return nil
	case j.Naturalness < 1 || j.Naturalness > 5:
		return fmt.Errorf("naturalness %d: use 1 to 5", j.Naturalness)
	case j.SameSpeaker != annotation.Yes && j.SameSpeaker != annotation.No:
		return fmt.Errorf("same speaker %.20q: use YES or NO", j.SameSpeaker)
	}
	return nil
}

// sameAnswer reports whether two judgments of an item say the same.
func (j Judgment) sameAnswer(other Judgment) bool {
	return j.Label == other.Label && j.Naturalness == other.Naturalness && j.SameSpeaker == other.SameSpeaker
}

// Desk is what an annotator has to do now.
type Desk struct {
	Annotator string `json:"annotator"`
	Active    bool   `json:"active"` // false: removed, or unknown to the study
	Paused    bool   `json:"paused,omitempty"`
	Stage     Stage  `json:"stage"`
	// Open is the assignment to work on, nil when there is none now. More may come
	// while Stage is not Done: adjudication begins when all batches are back.
	Open     *Assignment `json:"open,omitempty"`
	Workflow string      `json:"workflow,omitempty"` // Open's workflow id
	Done     int         `json:"done"`               // assignments given back
	Waiting  int         `json:"waiting"`            // assignments after Open
}

// Progress is how far an assignment is.
type Progress struct {
	Assignment Assignment `json:"assignment"`
	Judgments  []Judgment `json:"judgments"` // in the order of Assignment.Items, those given
	Opened     time.Time  `json:"opened"`
	Deadline   time.Time  `json:"deadline,omitzero"`
	Reminder   time.Time  `json:"reminder,omitzero"` // when the annotator was due for the last one
	Paused     bool       `json:"paused,omitempty"`
	Finished   bool       `json:"finished,omitempty"`
}

// Receipt says that a judgment, or a batch, was taken.
type Receipt struct {
	Judged int `json:"judged"` // items of the assignment with a judgment
	Items  int `json:"items"`
}

// Stop ends an assignment from outside: what was given is kept as an incomplete batch.
type Stop struct {
	How   How  `json:"how"`
	Erase bool `json:"erase,omitempty"` // keep nothing
}

// Remove is the argument of UpdateRemove.
type Remove struct {
	Annotator string `json:"annotator"`
	Erase     bool   `json:"erase,omitempty"` // their votes count no more
}

// How an assignment ended.
type How string

// The ways to end. A Batch that was not finished may lack judgments.
const (
	Finished How = "finished" // by its annotator
	Expired  How = "expired"  // at its deadline
	Removed  How = "removed"  // with its annotator
	Closed   How = "closed"   // by the study's leader
)

// Batch is a stored assignment that has ended, with all that was given.
type Batch struct {
	Study      string     `json:"study"`
	Assignment Assignment `json:"assignment"`
	Judgments  []Judgment `json:"judgments"`
	How        How        `json:"how"`
	Opened     time.Time  `json:"opened"`
	Ended      time.Time  `json:"ended"`
	Flags      []Flag     `json:"flags,omitempty"`
}

// Done is what a study is told of an assignment that has ended.
type Done struct {
	Assignment int       `json:"assignment"` // its number in the State
	Labels     string    `json:"labels"`     // a letter an item in the assignment's order: Y, N, or - for none
	How        How       `json:"how"`
	Ended      time.Time `json:"ended"`
	Flags      []Flag    `json:"flags,omitempty"`
}
