package annotation

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/vote"
)

// Rule says when a majority is enough.
type Rule struct {
	// MinShare is the least share of an item's votes, in percent, that the
	// majority needs. 0 leaves ties UNRESOLVED and nothing else.
	MinShare int `json:"min_share"`
}

// Check returns an error when the rule makes no sense.
func (r Rule) Check() error {
	if r.MinShare < 0 || r.MinShare > 100 {
		return fmt.Errorf("a share of %d%% of the votes: use 0 (a majority) to 100 (all)", r.MinShare)
	}
	return nil
}

// Decide returns the verdict of so many votes: the majority's, and UNRESOLVED
// when there is no vote, a tie, or a majority below the rule's share.
func (r Rule) Decide(yes, no int) vote.Verdict {
	most := max(yes, no)
	switch {
	case yes == no, 100*most < r.MinShare*(yes+no):
		return vote.Unresolved
	case yes > no:
		return vote.Yes
	default:
		return vote.No
	}
}

// Consensus is what an item's annotators say together, in one modality.
type Consensus struct {
	Item     string       `json:"item"`
	Modality Modality     `json:"modality"`
	Label    vote.Verdict `json:"label"`
	Yes      int          `json:"yes"` // votes
	No       int          `json:"no"`
}

// Annotators returns how many people judged the item.
func (c Consensus) Annotators() int { return c.Yes + c.No }

// Consensus returns the consensus on each of the modality's items, in their order.
func (s Set) Consensus(m Modality, r Rule) []Consensus {
	votes := s.Votes(m)
	all := make([]Consensus, 0, len(s.Items[m]))
	for _, item := range s.Items[m] {
		c := Consensus{Item: item, Modality: m}
		c.Yes, c.No = count(votes[item])
		c.Label = r.Decide(c.Yes, c.No)
		all = append(all, c)
	}
	return all
}

func count(votes []Annotation) (yes, no int) {
	for _, v := range votes {
		if v.Label == Yes {
			yes++
		} else {
			no++
		}
	}
	return yes, no
}

// ByItem returns the consensuses of one modality by their items.
func ByItem(all []Consensus) map[string]Consensus {
	items := make(map[string]Consensus, len(all))
	for _, c := range all {
		items[c.Item] = c
	}
	return items
}

// TiesAsNo returns the consensuses as the paper's Table 6 counted them: YES when
// most votes are, else NO, ties included. An item without votes stays UNRESOLVED.
func TiesAsNo(all []Consensus) []Consensus {
	counted := make([]Consensus, len(all))
	for i, c := range all {
		switch {
		case c.Annotators() == 0:
			c.Label = vote.Unresolved
		case c.Yes > c.No:
			c.Label = vote.Yes
		default:
			c.Label = vote.No
		}
		counted[i] = c
	}
	return counted
}
