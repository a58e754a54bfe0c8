package study

import (
	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Status is how far a study is.
type Status struct {
	Study      string            `json:"study"`
	Stage      Stage             `json:"stage"`
	Paused     bool              `json:"paused,omitempty"`
	Round      int               `json:"round,omitempty"` // of adjudication
	Modalities []ModalityStatus  `json:"modalities"`
	Annotators []AnnotatorStatus `json:"annotators"`
	Flagged    []FlaggedBatch    `json:"flagged,omitempty"`
}

// ModalityStatus counts the items of one modality.
type ModalityStatus struct {
	Modality    annotation.Modality  `json:"modality"`
	Items       int                  `json:"items"`
	Closed      int                  `json:"closed"` // their votes are in
	Short       int                  `json:"short"`  // nobody is to give the votes that they lack
	Yes         int                  `json:"yes"`    // decided
	No          int                  `json:"no"`
	Adjudicated map[Adjudication]int `json:"adjudication"` // items by where theirs stands
}

// AnnotatorStatus is how far one annotator is.
type AnnotatorStatus struct {
	Desk
	Judged     int `json:"judged"`     // in assignments that have ended
	Reviewed   int `json:"reviewed"`   // as adjudicator, in assignments that have ended
	Flags      int `json:"flags"`      // of assignments that have ended
	Incomplete int `json:"incomplete"` // assignments that have ended without all judgments
}

// FlaggedBatch is an ended assignment that looks careless.
type FlaggedBatch struct {
	Annotator string `json:"annotator"`
	Part      string `json:"part"`
	Flags     []Flag `json:"flags"`
}

// Status returns how far the study is.
func (s *State) Status() Status {
	status := Status{Study: s.ID, Stage: s.Stage, Paused: s.Paused, Round: s.Round}
	outcomes := s.Outcomes()
	for m, modality := range s.Modalities {
		count := ModalityStatus{Modality: modality, Items: s.Items, Adjudicated: map[Adjudication]int{}}
		for _, o := range outcomes[m*s.Items : (m+1)*s.Items] {
			count.add(o)
		}
		status.Modalities = append(status.Modalities, count)
	}
	for _, a := range s.Annotators {
		status.Annotators = append(status.Annotators, s.annotatorStatus(a.Name))
	}
	for _, e := range s.Assignments {
		if len(e.Flags) > 0 {
			status.Flagged = append(status.Flagged, FlaggedBatch{Annotator: e.Annotator, Part: e.Part(), Flags: e.Flags})
		}
	}
	return status
}

func (m *ModalityStatus) add(o Outcome) {
	if o.Closed {
		m.Closed++
	}
	if o.Short {
		m.Short++
	}
	switch o.Label {
	case vote.Yes:
		m.Yes++
	case vote.No:
		m.No++
	}
	m.Adjudicated[o.Adjudication]++
}

func (s *State) annotatorStatus(name string) AnnotatorStatus {
	a := AnnotatorStatus{Desk: s.Desk(name)}
	for _, e := range s.Assignments {
		if e.Annotator != name || e.Status != Ended {
			continue
		}
		judged := len(e.Items) - e.missing()
		if e.Round > 0 {
			a.Reviewed += judged
		} else {
			a.Judged += judged
		}
		if e.missing() > 0 {
			a.Incomplete++
		}
		a.Flags += len(e.Flags)
	}
	return a
}
