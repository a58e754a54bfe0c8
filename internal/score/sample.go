package score

import (
	"cmp"
	"slices"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// sample is what is drawn anew: dialogues of truth YES, then those of truth NO.
// All items of a dialogue, as its castings, are drawn together, because they are
// no independent evidence. An item without an id is a dialogue of its own.
type sample[T any] struct {
	yes, no int
	items   []T
	unit    []int // the dialogue of each item
}

// strata are the numbers of dialogues, by truth.
func (s sample[T]) strata() []int { return []int{s.yes, s.no} }

// isYes reports whether the truth of a dialogue is YES.
func (s sample[T]) isYes(unit int) bool { return unit < s.yes }

// repeated reports whether a dialogue has several items.
func (s sample[T]) repeated() bool { return len(s.items) > s.yes+s.no }

// newSample groups items by dialogue. Those without truth are left out. The order
// of the items with the same id is kept, that of the ids doesn't matter.
func newSample[T any](items []T, truth func(T) dialogue.Truth, id func(T) string) sample[T] {
	var s sample[T]
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b T) int { return cmp.Compare(id(a), id(b)) })
	for _, of := range []dialogue.Truth{dialogue.Yes, dialogue.No} {
		units, last := 0, ""
		for _, it := range sorted {
			if truth(it) != of {
				continue
			}
			if units == 0 || id(it) == "" || id(it) != last {
				units, last = units+1, id(it)
			}
			s.items = append(s.items, it)
			s.unit = append(s.unit, s.yes+units-1)
		}
		if of == dialogue.Yes {
			s.yes = units
		} else {
			s.no = units
		}
	}
	return s
}

// sampleDecided groups the items that were called YES or NO.
func sampleDecided(items []Item) sample[Item] {
	return newSample(slices.DeleteFunc(slices.Clone(items), func(it Item) bool { return it.failed() || it.Verdict == vote.Unresolved }),
		func(it Item) dialogue.Truth { return it.Truth }, func(it Item) string { return it.ID })
}

// confusionOf returns the confusion of weighted dialogues as a function of the
// weights, counted before, as it is asked for in every draw.
func confusionOf(s sample[Item]) func(weights []int) Confusion {
	counts := make([]Verdicts, s.yes+s.no)
	for i, it := range s.items {
		if it.Verdict == vote.Yes {
			counts[s.unit[i]].Yes++
		} else {
			counts[s.unit[i]].No++
		}
	}
	return func(weights []int) Confusion {
		var c Confusion
		for unit, w := range weights {
			row := &c.No
			if s.isYes(unit) {
				row = &c.Yes
			}
			row.Yes += w * counts[unit].Yes
			row.No += w * counts[unit].No
		}
		return c
	}
}
