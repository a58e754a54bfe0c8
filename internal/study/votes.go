package study

import (
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// The letters of Done.Labels.
const (
	yes  = 'Y'
	no   = 'N'
	none = '-'
)

// Labels returns an assignment's judgments as Done has them.
func Labels(a Assignment, judgments []Judgment) string {
	letters := []byte(strings.Repeat(string(none), len(a.Items)))
	for i, item := range a.Items {
		for _, j := range judgments {
			if j.Item == item && j.Label == annotation.Yes {
				letters[i] = yes
			} else if j.Item == item {
				letters[i] = no
			}
		}
	}
	return string(letters)
}

// label returns the letter of the i-th item.
func (e Entry) label(i int) byte {
	if i >= len(e.Labels) {
		return none
	}
	return e.Labels[i]
}

// missing counts the items without a label.
func (e Entry) missing() int {
	missing := 0
	for i := range e.Items {
		if e.label(i) == none {
			missing++
		}
	}
	return missing
}

// tally is what is known of an item in one modality.
type tally struct {
	yes, no         int // votes
	planned         int // votes that the design gives it
	waiting         int // assignments with it that haven't ended
	closed          time.Time
	forYes, against int // adjudicators
	reviewing       int
	reviewed        time.Time
}

// tally counts the votes on every item of a modality, by item.
func (s *State) tally(m annotation.Modality) []tally {
	all := make([]tally, s.Items)
	for _, e := range s.Assignments {
		if e.Modality != m {
			continue
		}
		for i, item := range e.Items {
			if item < len(all) { // checks are no votes
				all[item].add(e, e.label(i))
			}
		}
	}
	return all
}

func (t *tally) add(e Entry, label byte) {
	live := e.Status == Open || e.Status == Waiting
	if e.Round > 0 {
		switch {
		case live:
			t.reviewing++
		case label == yes:
			t.forYes++
		case label == no:
			t.against++
		}
		if e.Ended.After(t.reviewed) {
			t.reviewed = e.Ended
		}
		return
	}
	if !e.Added {
		t.planned++
	}
	switch {
	case live:
		t.waiting++
	case label == yes:
		t.yes++
	case label == no:
		t.no++
	}
	if e.Ended.After(t.closed) {
		t.closed = e.Ended
	}
}

// short reports whether an item lacks votes that nobody is to give. A design that was
// forced below the quorum promises no more than it has.
func (t tally) short(r Rules) bool {
	return t.waiting == 0 && t.yes+t.no < min(r.MinVotes, t.planned)
}

// adjudicators returns how many more people have to see an item whose votes are in:
// two who agree, else a third.
func (t tally) adjudicators(rule annotation.Rule) int {
	switch {
	case t.waiting+t.reviewing > 0, rule.Decide(t.yes, t.no) != vote.Unresolved, t.forYes > 1, t.against > 1:
		return 0
	case t.forYes == 1 && t.against == 1:
		return 1
	}
	return 2 - t.forYes - t.against
}

// Adjudication is where an item's adjudication stands.
type Adjudication string

// The places.
const (
	NotNeeded    Adjudication = "none"       // the votes decide, or aren't in yet
	Needed       Adjudication = "needed"     // and not decided
	UnderReview  Adjudication = "in review"  // somebody has it
	Adjudicated  Adjudication = "resolved"   // by two who agree, or by a third
	Unresolvable Adjudication = "unresolved" // the study ended without
)

// Outcome is what people say of an item together, in one modality.
type Outcome struct {
	Item         int                 `json:"item"`
	Modality     annotation.Modality `json:"modality"`
	Label        vote.Verdict        `json:"label"`  // UNRESOLVED until it is decided
	Closed       bool                `json:"closed"` // its votes are in
	Yes          int                 `json:"yes"`    // votes
	No           int                 `json:"no"`
	Short        bool                `json:"short,omitempty"` // fewer votes than its quorum
	Adjudication Adjudication        `json:"adjudication"`
	ForYes       int                 `json:"for_yes,omitempty"` // adjudicators
	ForNo        int                 `json:"for_no,omitempty"`
	Decided      time.Time           `json:"decided,omitzero"` // by the vote that came last
}

// Annotators returns how many people have judged the item, adjudicators included.
func (o Outcome) Annotators() int { return o.Yes + o.No + o.ForYes + o.ForNo }

// Outcomes returns what is known of every item, by modality, then by item.
func (s *State) Outcomes() []Outcome {
	var all []Outcome
	for _, m := range s.Modalities {
		for item, t := range s.tally(m) {
			all = append(all, s.outcome(item, m, t))
		}
	}
	return all
}

func (s *State) outcome(item int, m annotation.Modality, t tally) Outcome {
	o := Outcome{
		Item: item, Modality: m, Label: vote.Unresolved, Yes: t.yes, No: t.no, ForYes: t.forYes, ForNo: t.against,
		Closed: t.waiting == 0, Short: t.short(s.Rules), Adjudication: NotNeeded,
	}
	if !o.Closed || o.Short && s.Stage == Judging {
		o.Closed = false
		return o
	}
	o.Label, o.Decided = s.Rules.Majority.Decide(t.yes, t.no), t.closed
	if o.Label != vote.Unresolved {
		return o
	}
	o.Decided = time.Time{}
	switch {
	case t.forYes > 1 || t.against > 1:
		o.Label, o.Decided, o.Adjudication = majority(t), t.reviewed, Adjudicated
	case t.reviewing > 0:
		o.Adjudication = UnderReview
	case s.Stage == Complete:
		o.Adjudication = Unresolvable
	default:
		o.Adjudication = Needed
	}
	return o
}

// majority is what the adjudicators of a resolved item say.
func majority(t tally) vote.Verdict {
	if t.forYes > t.against {
		return vote.Yes
	}
	return vote.No
}

// Short returns the items, by modality, that nobody is to give the votes which they
// lack.
func (s *State) Short() []Outcome {
	var short []Outcome
	for _, o := range s.Outcomes() {
		if o.Short {
			short = append(short, o)
		}
	}
	return short
}
