package study

import (
	"fmt"
	"slices"
)

// Add takes in an annotator. While the study is judging they get what others leave
// undone, now or later; they adjudicate like everybody else.
func (s *State) Add(name string) error {
	if name == "" || slices.ContainsFunc(s.Annotators, func(a Annotator) bool { return a.Name == name }) {
		return fmt.Errorf("%.40q is or was an annotator of this study", name)
	}
	if s.Stage == Complete {
		return fmt.Errorf("the study is complete")
	}
	s.Annotators = append(s.Annotators, Annotator{Name: name, Active: true, Added: true})
	return nil
}

// fill gives those who were added what others have left undone.
func (s *State) fill() {
	for _, a := range s.Annotators {
		if !a.Added || !a.Active {
			continue
		}
		for i := range s.Assignments {
			left := &s.Assignments[i]
			if left.Round > 0 || left.Filled || left.Status != Ended && left.Status != Dropped {
				continue
			}
			items := s.mayTake(a.Name, left)
			if len(items) == 0 || len(items) < left.missing() {
				continue // somebody else may take the whole of it
			}
			left.Filled = true
			taken := Assignment{Annotator: a.Name, Modality: left.Modality, Batch: left.Batch, Extra: len(s.Assignments), Items: items}
			s.Assignments = append(s.Assignments, Entry{Assignment: taken, Status: Waiting, Added: true})
		}
	}
}

// mayTake returns what an assignment has left undone, but for what the annotator has
// in this modality, and under Disjoint in any.
func (s *State) mayTake(name string, left *Entry) []int {
	var items []int
	for i, item := range left.Items {
		if left.label(i) == none && !s.has(name, item, func(e Entry) bool { return s.Repeat == Disjoint || e.Modality == left.Modality }) {
			items = append(items, item)
		}
	}
	return items
}

// has reports whether an annotator has, or had, an item in an assignment that counts.
func (s *State) has(name string, item int, counts func(Entry) bool) bool {
	return slices.ContainsFunc(s.Assignments, func(e Entry) bool {
		return e.Annotator == name && e.Status != Dropped && counts(e) && slices.Contains(e.Items, item)
	})
}

// Remove takes an annotator out. What they have given counts, unless it is to be
// erased; what they haven't is left for somebody to be added. It returns the
// assignments to be stopped.
func (s *State) Remove(r Remove) ([]int, error) {
	at := slices.IndexFunc(s.Annotators, func(a Annotator) bool { return a.Name == r.Annotator })
	if at < 0 {
		return nil, fmt.Errorf("%.40q is no annotator of this study", r.Annotator)
	}
	s.Annotators[at].Active = false
	open := s.stop(func(e Entry) bool { return e.Annotator == r.Annotator })
	if !r.Erase {
		return open, nil
	}
	for i := range s.Assignments {
		if e := &s.Assignments[i]; e.Annotator == r.Annotator && e.Status != Dropped {
			e.Status, e.How, e.Labels, e.Flags = Ended, Removed, "", nil
		}
	}
	return open, nil
}

// Desk returns what an annotator has to do.
func (s *State) Desk(name string) Desk {
	desk := Desk{Annotator: name, Paused: s.Paused, Stage: s.Stage}
	desk.Active = slices.ContainsFunc(s.Annotators, func(a Annotator) bool { return a.Name == name && a.Active })
	for _, e := range s.Assignments {
		if e.Annotator != name {
			continue
		}
		switch e.Status {
		case Open:
			open := e.Assignment
			desk.Open, desk.Workflow = &open, AssignmentWorkflowID(s.ID, open)
		case Ended:
			desk.Done++
		case Waiting:
			desk.Waiting++
		}
	}
	return desk
}
