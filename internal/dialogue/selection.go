package dialogue

import (
	"fmt"
	"strings"
)

// Selection narrows a dataset down. Its zero value keeps everything.
type Selection struct {
	IDs   []string // keep these; empty keeps all. "85514414.0" means 85514414.
	Truth Truth    // keep this truth; Unknown keeps all
	Limit int      // keep at most this many, counted last; 0 keeps all
}

// Select returns the dialogues that s keeps, in the dataset's order; it may be
// none. The error names the ids that no dialogue has.
func Select(dialogues []Dialogue, s Selection) ([]Dialogue, error) {
	if s.Limit < 0 {
		return nil, fmt.Errorf("select dialogues: the limit %d is negative (0 keeps all)", s.Limit)
	}
	present := map[string]bool{}
	for _, d := range dialogues {
		present[d.ID] = true
	}
	wanted := map[string]bool{}
	var unknown []string
	for _, id := range s.IDs {
		id = wholeNumber(id)
		if !present[id] && !wanted[id] {
			unknown = append(unknown, quote(id))
		}
		wanted[id] = true
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("select dialogues: not in the dataset: %s", strings.Join(unknown, ", "))
	}
	var kept []Dialogue
	for _, d := range dialogues {
		if (len(wanted) == 0 || wanted[d.ID]) && (s.Truth == Unknown || d.Truth == s.Truth) {
			kept = append(kept, d)
		}
	}
	if s.Limit > 0 && len(kept) > s.Limit {
		kept = kept[:s.Limit]
	}
	return kept, nil
}
