package annotation

import (
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// TruthTable sets consensuses against the truth.
type TruthTable struct {
	// Table counts decided items: truth YES and NO downwards, consensus YES and NO
	// across.
	Table      [2][2]int
	Agree      int      // decided items whose consensus is the truth
	Items      int      // decided items
	Unresolved []string // items with truth and without a decision
	Unlabelled int      // items without truth; in no other count
}

// AgainstTruth compares the consensuses with the truths of their items.
func AgainstTruth(all []Consensus, truth map[string]dialogue.Truth) TruthTable {
	var t TruthTable
	for _, c := range all {
		is := truth[c.Item]
		switch {
		case is != dialogue.Yes && is != dialogue.No:
			t.Unlabelled++
			continue
		case c.Label == vote.Unresolved:
			t.Unresolved = append(t.Unresolved, c.Item)
			continue
		}
		row, column := 0, 0
		if is == dialogue.No {
			row = 1
		}
		if c.Label == vote.No {
			column = 1
		}
		t.Table[row][column]++
		t.Items++
	}
	t.Agree = t.Table[0][0] + t.Table[1][1]
	return t
}

// Reference says how often people agree with the consensus of the others: what a
// model's agreement with people can be read against. It is no ceiling: a model can
// agree with a consensus more than single people do.
type Reference struct {
	Annotator  string // empty for all together
	Agree      int    // votes equal to the others' consensus
	Votes      int    // votes compared
	Unresolved int    // votes not compared: the others' consensus is UNRESOLVED
}

// LeaveOneOut compares each vote on the modality's items of two votes or more with
// the consensus of the item's other votes: all together, and by annotator in the
// order of their names.
func (s Set) LeaveOneOut(m Modality, r Rule) (all Reference, each []Reference) {
	place := map[string]int{}
	for i, name := range s.Annotators(m) {
		place[name] = i
		each = append(each, Reference{Annotator: name})
	}
	for _, votes := range s.Votes(m) {
		if len(votes) < 2 {
			continue
		}
		yes, no := count(votes)
		for _, v := range votes {
			others := r.Decide(yes-1, no)
			if v.Label == No {
				others = r.Decide(yes, no-1)
			}
			each[place[v.Annotator]].add(v.Label, others)
		}
	}
	for _, one := range each {
		all.Agree += one.Agree
		all.Votes += one.Votes
		all.Unresolved += one.Unresolved
	}
	return all, each
}

func (r *Reference) add(label Label, others vote.Verdict) {
	switch {
	case others == vote.Unresolved:
		r.Unresolved++
		return
	case string(others) == string(label):
		r.Agree++
	}
	r.Votes++
}
