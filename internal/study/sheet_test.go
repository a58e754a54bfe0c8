package study

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// sheetOf is an assignment of three items, of which 9 is an attention check.
func sheetOf(m annotation.Modality) Sheet {
	s := Sheet{
		Study: "s", Number: 2, Rules: DefaultRules(), Assignment: Assignment{Annotator: "A01", Modality: m, Batch: 3, Items: []int{4, 9, 1}},
		Checks: []Check{{Item: 9, Expected: annotation.No}}, Least: []int{3000, 3000, 10_000},
	}
	s.Open(noon)
	return s
}

func judge(m annotation.Modality, item int, label annotation.Label) Judge {
	return Judge{Annotator: "A01", Modality: m, Judgment: Judgment{Item: item, Label: label, Heard: m == annotation.Audio, Millis: 12_000}}
}

func TestJudgeIsChecked(t *testing.T) {
	for want, change := range map[string]func(*Judge, *Sheet){
		"":                            func(*Judge, *Sheet) {},
		"this assignment is A01's":    func(j *Judge, _ *Sheet) { j.Annotator = "A02" },
		"in audio":                    func(j *Judge, _ *Sheet) { j.Modality = annotation.Text },
		"item 5 is not in this":       func(j *Judge, _ *Sheet) { j.Item = 5 },
		`"yes" is no label`:           func(j *Judge, _ *Sheet) { j.Label = "yes" },
		`"" is no label`:              func(j *Judge, _ *Sheet) { j.Label = "" },
		"a judgment took -1 ms":       func(j *Judge, _ *Sheet) { j.Millis = -1 },
		"a judgment took 86400001 ms": func(j *Judge, _ *Sheet) { j.Millis = maxMillis + 1 },
		"has not been heard":          func(j *Judge, _ *Sheet) { j.Heard = false },
		"asks for no listening test":  func(j *Judge, _ *Sheet) { j.Naturalness = 3 },
		"naturalness 0: use 1 to 5":   func(_ *Judge, s *Sheet) { s.Listening = true },
		"naturalness 6: use 1 to 5":   func(j *Judge, s *Sheet) { s.Listening, j.Naturalness = true, 6 },
		`same speaker "": use YES`:    func(j *Judge, s *Sheet) { s.Listening, j.Naturalness = true, 5 },
		"the study is paused":         func(_ *Judge, s *Sheet) { s.Pause(true, noon) },
	} {
		s, j := sheetOf(annotation.Audio), judge(annotation.Audio, 4, annotation.Yes)
		change(&j, &s)
		err := s.Check(j)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// What is asked of listeners, adjudicators are not.
	s := sheetOf(annotation.Audio)
	s.Listening, s.Assignment.Round = true, 1
	if err := s.Check(judge(annotation.Audio, 4, annotation.Yes)); err != nil {
		t.Error(err)
	}
}

func TestJudgeAgain(t *testing.T) {
	s := sheetOf(annotation.Text)
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	first := judge(annotation.Text, 4, annotation.Yes).Judgment
	s.Judge(first, at(1))
	slower := first
	slower.Millis = 99_000
	s.Judge(slower, at(2)) // the same answer: sent twice
	want := first
	want.Time = at(1)
	if diff := cmp.Diff([]Judgment{want}, s.judgments()); diff != "" {
		t.Errorf("sent twice (-want +got):\n%s", diff)
	}
	changed := slower
	changed.Label, changed.Changes = annotation.No, 17
	s.Judge(changed, at(3))
	want.Label, want.Time, want.Changes = annotation.No, at(3), 1
	if diff := cmp.Diff([]Judgment{want}, s.judgments()); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	// Those given are in the items' order, not in that of the answers.
	s.Judge(judge(annotation.Text, 1, annotation.No).Judgment, at(4))
	s.Judge(judge(annotation.Text, 9, annotation.No).Judgment, at(5))
	var items []int
	for _, j := range s.judgments() {
		items = append(items, j.Item)
	}
	if !slices.Equal(items, []int{4, 9, 1}) {
		t.Errorf("judged %v", items)
	}
	if got := Labels(s.Assignment, s.judgments()); got != "NNN" {
		t.Errorf("labels %q", got)
	}
}

func TestFinish(t *testing.T) {
	s := sheetOf(annotation.Text)
	s.Judge(judge(annotation.Text, 4, annotation.Yes).Judgment, noon)
	if err := s.CheckFinish(); err == nil || !strings.Contains(err.Error(), "2 of 3 items have no judgment") {
		t.Errorf("%v", err)
	}
	s.Judge(judge(annotation.Text, 9, annotation.Yes).Judgment, noon)
	s.Judge(judge(annotation.Text, 1, annotation.No).Judgment, noon)
	if err := s.CheckFinish(); err != nil {
		t.Error(err)
	}
	if r := s.Receipt(); r != (Receipt{Judged: 3, Items: 3}) {
		t.Errorf("%+v", r)
	}
	batch := s.Batch(Finished, noon)
	if done := s.Done(batch); done.Labels != "YYN" || done.Assignment != 2 || done.How != Finished || !done.Ended.Equal(noon) {
		t.Errorf("%+v", done)
	}
	s.Pause(true, noon)
	if err := s.CheckFinish(); err == nil {
		t.Error("finishes while the study is paused")
	}
}

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		labels string // of the items in their order; - for none
		millis int
		run    int
		want   []string
	}{
		"careful":         {"YNY", 12_000, 3, nil},
		"incomplete":      {"Y--", 12_000, 3, []string{"incomplete: 1 of 3 items judged"}},
		"nothing":         {"---", 12_000, 3, []string{"incomplete: 0 of 3 items judged"}},
		"attention":       {"NYN", 12_000, 3, []string{"attention: 1 of 1 attention checks missed"}},
		"fast":            {"YNY", 2999, 3, []string{"fast: 3 of 3 items judged in less time than they take"}},
		"before its end":  {"YNY", 9999, 3, []string{"fast: 1 of 3 items judged in less time than they take"}},
		"straight":        {"NNN", 12_000, 3, []string{"straight-lining: NO 3 times in a row"}},
		"not so straight": {"NNN", 12_000, 4, nil},
		"never straight":  {"NNN", 12_000, 0, nil},
		"all of it": {"YY-", 0, 2, []string{"incomplete: 2 of 3 items judged", "attention: 1 of 1 attention checks missed",
			"fast: 2 of 2 items judged in less time than they take", "straight-lining: YES 2 times in a row"}},
	} {
		s := sheetOf(annotation.Audio)
		s.Rules.StraightRun = c.run
		for i, item := range s.Assignment.Items {
			j := judge(annotation.Audio, item, annotation.Yes).Judgment
			j.Millis = c.millis
			if c.labels[i] == 'N' {
				j.Label = annotation.No
			}
			if c.labels[i] != '-' {
				s.Judge(j, noon)
			}
		}
		var got []string
		for _, f := range s.Batch(Finished, noon).Flags {
			got = append(got, f.Code+": "+f.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRemindersAndDeadline(t *testing.T) {
	const day = 24 * time.Hour
	at := func(days int) time.Time { return noon.Add(time.Duration(days) * day) }
	s := sheetOf(annotation.Text) // reminds after 3 days, ends after 14
	next := func(want time.Time) {
		t.Helper()
		if got := s.Next(); !got.Equal(want) {
			t.Errorf("next is %s, want %s", got, want)
		}
	}
	due := func(now time.Time, want bool, reminder time.Time) {
		t.Helper()
		if got := s.Due(now); got != want || !s.Reminder.Equal(reminder) {
			t.Errorf("at %s expired %v, reminded %s", now, got, s.Reminder)
		}
	}
	next(at(3))
	s.Judge(judge(annotation.Text, 4, annotation.Yes).Judgment, at(1))
	due(at(3), false, time.Time{}) // the judgment has moved it
	next(at(4))
	due(at(4), false, at(4))
	next(at(7))
	// Standing still for two days moves everything by two days.
	s.Pause(true, at(5))
	s.Pause(true, at(6))
	next(time.Time{})
	due(at(6), false, at(4))
	s.Pause(false, at(7))
	s.Pause(false, at(8))
	if !s.Deadline.Equal(at(16)) {
		t.Errorf("the deadline is %s", s.Deadline)
	}
	s.Judge(judge(annotation.Text, 1, annotation.Yes).Judgment, at(14))
	next(at(16))
	due(at(15), false, at(4))
	due(at(16), true, at(4))

	s = sheetOf(annotation.Text)
	s.Rules.RemindAfter, s.Deadline = 0, time.Time{}
	next(time.Time{})
	due(at(100), false, time.Time{})
	// One that is carried on keeps its times.
	s = sheetOf(annotation.Text)
	s.Open(at(5))
	next(at(3))
}

func TestSheetOfState(t *testing.T) {
	p := plan()
	p.Checks = 1
	s := begun(t, p)
	s.Paused = true
	checks := 0
	for i, e := range s.Assignments {
		sheet := s.Sheet(i, noon)
		least := 3000
		if e.Modality == annotation.Audio {
			least = 10_000 // the clips' length
		}
		if sheet.Number != i || !sheet.Paused.Equal(noon) || len(sheet.Least) != len(e.Items) || slices.Max(sheet.Least) != least || slices.Min(sheet.Least) != least {
			t.Fatalf("%+v", sheet)
		}
		for _, check := range sheet.Checks {
			checks++
			if check != (Check{Item: 100, Expected: annotation.Yes}) || !slices.Contains(e.Items, 100) {
				t.Errorf("%+v", check)
			}
		}
	}
	if checks != 16 {
		t.Errorf("%d checks, want one for each annotator and modality", checks)
	}
}

func TestNames(t *testing.T) {
	a := Assignment{Annotator: "A01", Modality: annotation.Text, Batch: 3}
	for want, a := range map[string]Assignment{
		"study/s/A01/text-03":         a,
		"study/s/A01/text-03-left-12": {Annotator: "A01", Modality: annotation.Text, Batch: 3, Extra: 12},
		"study/s/A01/audio-review-2":  {Annotator: "A01", Modality: annotation.Audio, Batch: 2, Round: 2},
	} {
		if got := AssignmentWorkflowID("s", a); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := BatchKey("s", a); got != "annotations/s/batches/A01/text-03.json" {
		t.Error(got)
	}
	for id, ok := range map[string]bool{"a-1": true, "": false, "A": false, "a/b": false, strings.Repeat("a", 64): false} {
		if err := CheckID(id); (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
	}
	for r, ok := range map[Rules]bool{DefaultRules(): true, {}: false, {MinVotes: 1, Deadline: -1}: false, {MinVotes: 1, MinMillis: -1}: false, {MinVotes: 1, Majority: annotation.Rule{MinShare: 101}}: false} {
		if err := r.Check(); (err == nil) != ok {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
