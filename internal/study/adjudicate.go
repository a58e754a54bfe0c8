package study

import (
	"cmp"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// adjudicate gives every item that waits for it to as many adjudicators as it needs.
// It reports whether it gave any, and how many items nobody can be found for.
func (s *State) adjudicate() (given bool, stuck int) {
	type desk struct {
		annotator string
		modality  int
	}
	round := s.Round + 1
	items := map[desk][]int{}
	load, met := s.reviews(), s.met()
	for m, modality := range s.Modalities {
		for item, t := range s.tally(modality) {
			need := t.adjudicators(s.Rules.Majority)
			for ; need > 0; need-- {
				who := s.adjudicator(item, modality, load, met)
				if who == "" {
					break
				}
				items[desk{who, m}] = append(items[desk{who, m}], item)
				met[meeting{who, modality, item}] = true
				load[who]++
			}
			if need > 0 {
				stuck++
			}
		}
	}
	for _, a := range s.Annotators {
		for m, modality := range s.Modalities {
			for of := range slices.Chunk(items[desk{a.Name, m}], MaxBatch) {
				// One that is larger goes on in the next round.
				s.Assignments = append(s.Assignments, Entry{Status: Waiting, Assignment: Assignment{Annotator: a.Name, Modality: modality, Batch: round, Round: round, Items: of}})
				given = true
				break
			}
		}
	}
	if given {
		s.Round = round
	}
	return given, stuck
}

// reviews counts the items that each annotator has adjudicated.
func (s *State) reviews() map[string]int {
	load := map[string]int{}
	for _, e := range s.Assignments {
		if e.Round > 0 && e.Status != Dropped {
			load[e.Annotator] += len(e.Items)
		}
	}
	return load
}

// meeting is an annotator's with an item in a modality.
type meeting struct {
	annotator string
	modality  annotation.Modality
	item      int
}

// met returns who has, or had, which item.
func (s *State) met() map[meeting]bool {
	met := map[meeting]bool{}
	for _, e := range s.Assignments {
		for _, item := range e.Items {
			met[meeting{e.Annotator, e.Modality, item}] = met[meeting{e.Annotator, e.Modality, item}] || e.Status != Dropped
		}
	}
	return met
}

// adjudicator chooses who sees an item next: outside its voters of this modality, best
// one who hasn't met it in another either, of these who has adjudicated least. "" is
// nobody.
func (s *State) adjudicator(item int, modality annotation.Modality, load map[string]int, met map[meeting]bool) string {
	type candidate struct {
		name      string
		elsewhere int // 1 who has met it in another modality
	}
	var all []candidate
	for _, a := range s.Annotators {
		if !a.Active || met[meeting{a.Name, modality, item}] {
			continue
		}
		c := candidate{name: a.Name}
		for _, other := range s.Modalities {
			if met[meeting{a.Name, other, item}] {
				c.elsewhere = 1
			}
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.elsewhere, b.elsewhere), cmp.Compare(load[a.name], load[b.name]), strings.Compare(a.name, b.name))
	}).name
}
