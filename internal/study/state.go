package study

import (
	"fmt"
	"slices"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// Stage is what a study is at.
type Stage string

// The stages. Adjudication begins when all batches are back: so no vote is given by
// somebody who has met the item as an adjudicator, and who adjudicates does not depend
// on who was quick.
const (
	Judging      Stage = "judging"
	Adjudicating Stage = "adjudicating"
	Complete     Stage = "complete"
)

// State is all that a study's workflow knows, and carries on. The zero value is none:
// use NewState.
type State struct {
	ID         string                `json:"id"`
	Modalities []annotation.Modality `json:"modalities"`
	Repeat     Repeat                `json:"repeat"`
	Rules      Rules                 `json:"rules"`
	Listening  bool                  `json:"listening,omitempty"`
	Items      int                   `json:"items"`            // that are voted on: 0 to Items-1
	Checks     []annotation.Label    `json:"checks,omitempty"` // what is expected of the items after these
	Millis     []int                 `json:"millis,omitempty"` // how long each item's clip is, where audio is judged

	Annotators  []Annotator `json:"annotators"`
	Assignments []Entry     `json:"assignments"` // only ever appended to
	Stage       Stage       `json:"stage"`
	Round       int         `json:"round,omitempty"` // adjudication rounds so far
	Paused      bool        `json:"paused,omitempty"`
	// Accepted stages end with what they have: their leader has closed them.
	Accepted []Stage `json:"accepted,omitempty"`
}

// Annotator is a pseudonym in a study.
type Annotator struct {
	Name   string `json:"name"`
	Active bool   `json:"active"`
	Added  bool   `json:"added,omitempty"` // after the study began
}

// Entry is an assignment and what has become of it.
type Entry struct {
	Assignment
	Status EntryStatus `json:"status"`
	Labels string      `json:"labels,omitempty"` // as in Done
	How    How         `json:"how,omitempty"`
	Ended  time.Time   `json:"ended,omitzero"`
	Flags  []Flag      `json:"flags,omitempty"`
	Added  bool        `json:"added,omitempty"`  // in place of what another left
	Filled bool        `json:"filled,omitempty"` // what it left was given to another
}

// EntryStatus is where an assignment is.
type EntryStatus string

// The places.
const (
	Waiting EntryStatus = "waiting" // for its annotator's earlier ones
	Open    EntryStatus = "open"
	Ended   EntryStatus = "ended"
	Dropped EntryStatus = "dropped" // before it was opened
)

// NewState begins a study.
func NewState(s Study) State {
	state := State{
		ID: s.ID, Modalities: s.Design.Modalities, Repeat: s.Design.Repeat, Rules: s.Rules, Listening: s.Listening, Stage: Judging,
	}
	heard := slices.Contains(s.Design.Modalities, annotation.Audio)
	for _, item := range s.Items {
		if heard {
			state.Millis = append(state.Millis, int(item.Seconds*1000))
		}
		if item.IsCheck() {
			state.Checks = append(state.Checks, item.Expected)
		} else {
			state.Items++
		}
	}
	for _, name := range s.Design.Annotators {
		state.Annotators = append(state.Annotators, Annotator{Name: name, Active: true})
	}
	for _, a := range s.Design.Assignments {
		state.Assignments = append(state.Assignments, Entry{Assignment: a, Status: Waiting})
	}
	return state
}

// Advance goes as far as the study can go by itself. It returns the numbers of the
// assignments that are open from now on.
func (s *State) Advance() []int {
	for {
		if s.Stage == Judging {
			s.fill()
		}
		if opened := s.open(); len(opened) > 0 || s.live() || !s.next() {
			return opened
		}
	}
}

// open opens the next assignment of everyone who has none open.
func (s *State) open() []int {
	busy := map[string]bool{}
	for _, e := range s.Assignments {
		busy[e.Annotator] = busy[e.Annotator] || e.Status == Open
	}
	var opened []int
	for i := range s.Assignments {
		if e := &s.Assignments[i]; e.Status == Waiting && !busy[e.Annotator] {
			e.Status, busy[e.Annotator] = Open, true
			opened = append(opened, i)
		}
	}
	return opened
}

func (s *State) live() bool {
	return slices.ContainsFunc(s.Assignments, func(e Entry) bool { return e.Status == Open || e.Status == Waiting })
}

// next ends what the study is at, where nobody is waited for. It returns false when
// only a person can help, or when there is nothing left.
func (s *State) next() bool {
	switch s.Stage {
	case Judging:
		if len(s.Short()) > 0 && !slices.Contains(s.Accepted, Judging) {
			return false
		}
		s.Stage = Adjudicating
		return true
	case Adjudicating:
		if slices.Contains(s.Accepted, Adjudicating) {
			s.Stage = Complete
			return false
		}
		given, stuck := s.adjudicate()
		if !given && stuck == 0 {
			s.Stage = Complete
		}
		return given
	}
	return false
}

// Done takes in an assignment that has ended; the second time it changes nothing.
func (s *State) Done(d Done) {
	if d.Assignment < 0 || d.Assignment >= len(s.Assignments) {
		return
	}
	e := &s.Assignments[d.Assignment]
	if e.Status != Open || len(d.Labels) != len(e.Items) {
		return
	}
	e.Status, e.Labels, e.How, e.Ended, e.Flags = Ended, d.Labels, d.How, d.Ended, d.Flags
}

// Close has a stage end with what it has. It returns the assignments to be stopped;
// each tells what it has by Done.
func (s *State) Close(stage Stage) ([]int, error) {
	if stage != s.Stage || stage == Complete {
		return nil, fmt.Errorf("the study is %s, not %s", s.Stage, stage)
	}
	s.Accepted = append(s.Accepted, stage)
	return s.stop(func(Entry) bool { return true }), nil
}

// stop drops what waits, and returns what is open.
func (s *State) stop(which func(Entry) bool) []int {
	var open []int
	for i := range s.Assignments {
		e := &s.Assignments[i]
		if !which(*e) {
			continue
		}
		switch e.Status {
		case Waiting:
			e.Status = Dropped
		case Open:
			open = append(open, i)
		}
	}
	return open
}
