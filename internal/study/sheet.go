package study

import (
	"fmt"
	"slices"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// Sheet is an assignment that is worked on: all that its workflow knows, and carries
// on.
type Sheet struct {
	Study      string     `json:"study"`
	Number     int        `json:"number"` // the assignment's in the study's State
	Assignment Assignment `json:"assignment"`
	Rules      Rules      `json:"rules"`
	Listening  bool       `json:"listening,omitempty"`
	Checks     []Check    `json:"checks,omitempty"` // those among the items
	Least      []int      `json:"least,omitempty"`  // milliseconds that each item takes, in the items' order

	Opened   time.Time  `json:"opened,omitzero"`
	Latest   time.Time  `json:"latest,omitzero"`   // when something was judged last
	Reminder time.Time  `json:"reminder,omitzero"` // when the annotator was due for the last one
	Deadline time.Time  `json:"deadline,omitzero"`
	Paused   time.Time  `json:"paused,omitzero"` // since when; zero when it isn't
	Given    []Judgment `json:"given,omitempty"` // in the order of first answers
}

// Check is an attention check of an assignment.
type Check struct {
	Item     int              `json:"item"`
	Expected annotation.Label `json:"expected"`
}

// Sheet returns the beginning of an assignment of the study.
func (s *State) Sheet(number int, paused time.Time) Sheet {
	e := s.Assignments[number]
	sheet := Sheet{Study: s.ID, Number: number, Assignment: e.Assignment, Rules: s.Rules, Listening: s.Listening}
	if s.Paused {
		sheet.Paused = paused
	}
	for _, item := range e.Items {
		least := s.Rules.MinMillis
		if e.Modality == annotation.Audio && item < len(s.Millis) {
			least = max(least, s.Millis[item])
		}
		sheet.Least = append(sheet.Least, least)
		if item >= s.Items {
			sheet.Checks = append(sheet.Checks, Check{Item: item, Expected: s.Checks[item-s.Items]})
		}
	}
	return sheet
}

// Open begins it; a sheet that was carried on stays as it is.
func (s *Sheet) Open(now time.Time) {
	if !s.Opened.IsZero() {
		return
	}
	s.Opened, s.Latest = now, now
	if s.Rules.Deadline > 0 {
		s.Deadline = now.Add(s.Rules.Deadline)
	}
}

// Check returns why a judgment can't be taken; see Judge.
func (s *Sheet) Check(j Judge) error {
	if !s.Paused.IsZero() {
		return fmt.Errorf("the study is paused")
	}
	return j.Check(s.Assignment, s.Listening)
}

// Judge takes a judgment that Check allows.
func (s *Sheet) Judge(j Judgment, now time.Time) {
	s.Latest = now
	j.Time, j.Changes = now, 0
	at := slices.IndexFunc(s.Given, func(given Judgment) bool { return given.Item == j.Item })
	if at < 0 {
		s.Given = append(s.Given, j)
		return
	}
	before := s.Given[at]
	if before.sameAnswer(j) {
		return
	}
	j.Millis, j.Changes = before.Millis, before.Changes+1 // the time to the first answer
	s.Given[at] = j
}

// CheckFinish returns why the annotator can't give the batch back.
func (s *Sheet) CheckFinish() error {
	if !s.Paused.IsZero() {
		return fmt.Errorf("the study is paused")
	}
	if missing := len(s.Assignment.Items) - len(s.Given); missing > 0 {
		return fmt.Errorf("%d of %d items have no judgment yet", missing, len(s.Assignment.Items))
	}
	return nil
}

// Pause lets the assignment stand still, or go on: its deadline moves by the time that
// it stood.
func (s *Sheet) Pause(pause bool, now time.Time) {
	switch {
	case pause && s.Paused.IsZero():
		s.Paused = now
	case !pause && !s.Paused.IsZero():
		stood := now.Sub(s.Paused)
		if !s.Deadline.IsZero() && !s.Opened.IsZero() {
			s.Deadline = s.Deadline.Add(stood)
		}
		s.Latest, s.Paused = s.Latest.Add(stood), time.Time{}
	}
}

// Next returns when something is due: the deadline, or a reminder before it. The zero
// time is never.
func (s *Sheet) Next() time.Time {
	if !s.Paused.IsZero() {
		return time.Time{}
	}
	next := s.Deadline
	if s.Rules.RemindAfter > 0 {
		since := s.Latest
		if s.Reminder.After(since) {
			since = s.Reminder
		}
		if remind := since.Add(s.Rules.RemindAfter); next.IsZero() || remind.Before(next) {
			next = remind
		}
	}
	return next
}

// Due does what is due. It reports whether the deadline has passed.
func (s *Sheet) Due(now time.Time) (expired bool) {
	next := s.Next()
	if next.IsZero() || now.Before(next) {
		return false
	}
	if !s.Deadline.IsZero() && !now.Before(s.Deadline) {
		return true
	}
	s.Reminder = now
	return false
}

// Progress returns how far the assignment is.
func (s *Sheet) Progress() Progress {
	return Progress{
		Assignment: s.Assignment, Judgments: s.judgments(), Opened: s.Opened, Deadline: s.Deadline, Reminder: s.Reminder, Paused: !s.Paused.IsZero(),
	}
}

// Receipt returns what a judgment is answered with.
func (s *Sheet) Receipt() Receipt {
	return Receipt{Judged: len(s.Given), Items: len(s.Assignment.Items)}
}

// Batch returns what is stored of an assignment that has ended.
func (s *Sheet) Batch(how How, now time.Time) Batch {
	return Batch{Study: s.Study, Assignment: s.Assignment, Judgments: s.judgments(), How: how, Opened: s.Opened, Ended: now, Flags: s.flags()}
}

// Done returns what the study is told of it.
func (s *Sheet) Done(b Batch) Done {
	return Done{Assignment: s.Number, Labels: Labels(s.Assignment, b.Judgments), How: b.How, Ended: b.Ended, Flags: b.Flags}
}

// judgments returns them in the order of the items.
func (s *Sheet) judgments() []Judgment {
	all := make([]Judgment, 0, len(s.Given))
	for _, item := range s.Assignment.Items {
		if at := slices.IndexFunc(s.Given, func(j Judgment) bool { return j.Item == item }); at >= 0 {
			all = append(all, s.Given[at])
		}
	}
	return all
}

func (s *Sheet) expected(item int) annotation.Label {
	for _, check := range s.Checks {
		if check.Item == item {
			return check.Expected
		}
	}
	return ""
}

func (s *Sheet) least(item int) int {
	if at := slices.Index(s.Assignment.Items, item); at >= 0 && at < len(s.Least) {
		return s.Least[at]
	}
	return 0
}
