package main

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/secret"
	"github.com/speechmanip/speechmanip/internal/study"
)

// What failed, what has no clip where one is heard, and other castings of a dialogue
// are for nobody to judge.
func TestUsableItems(t *testing.T) {
	clip := objectstore.Ref{Key: "clips/a.wav"}
	source := archive.Source{
		Items: []evaluation.Item{{ID: "1"}, {ID: "2"}, {ID: "3"}, {ID: "4"}, {ID: "5", CastingNumber: 1}, {ID: "5", CastingNumber: 2}},
		Records: []evaluation.Record{
			{ID: "1", Truth: dialogue.Yes, Clip: clip, ClipSeconds: 7}, {ID: "2", Failure: &evaluation.Failure{}, Clip: clip}, {ID: "3"},
			{ID: "5", CastingNumber: 2, Clip: clip}, {ID: "5", CastingNumber: 1, Clip: clip, Truth: dialogue.No},
		},
	}
	heard := []study.Item{{ID: "1", Truth: dialogue.Yes, Clip: clip, Seconds: 7}, {ID: "5", Truth: dialogue.No, Clip: clip}}
	if diff := cmp.Diff(heard, usableItems(source, true)); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	read := []study.Item{{ID: "1", Truth: dialogue.Yes}, {ID: "3"}, {ID: "5", Truth: dialogue.No}}
	if diff := cmp.Diff(read, usableItems(source, false)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

func TestAttentionChecks(t *testing.T) {
	items := []study.Item{{ID: "1"}, {ID: "2"}, {ID: "a=b"}}
	o := studyOptions{attention: []string{"2=no"}}
	checks, rest, err := o.checks(items)
	if err != nil || len(checks) != 1 || checks[0].Expected != annotation.No || checks[0].ID != "2" || len(rest) != 2 || len(items) != 3 {
		t.Errorf("%+v, %+v, %v", checks, rest, err)
	}
	for text, want := range map[string]string{"2": "write ITEM=YES", "2=perhaps": "is no label", "7=YES": `item "7" is not in evaluation`} {
		o.attention = []string{text}
		if _, _, err := o.checks(items); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	o.attention = []string{"2=YES", "2=YES"}
	if _, _, err := o.checks(items); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("named twice: %v", err)
	}
}

func memoryRegistry() people.Registry {
	return people.Registry{Store: mem.New(), Now: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }}
}

// A create that broke off is taken up by one with the same people, and by no other.
func TestRegister(t *testing.T) {
	registry := memoryRegistry()
	first, err := register(t.Context(), registry, "s", []string{"ann", "bo"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := register(t.Context(), registry, "s", []string{"bo", "ann"})
	if diff := cmp.Diff([]string{"A01", "A02"}, again); err != nil || diff != "" || !cmp.Equal(first, again) {
		t.Errorf("first %v, again %v, %v", first, again, err)
	}
	if _, err := register(t.Context(), registry, "s", []string{"ann", "cy"}); err == nil || !strings.Contains(err.Error(), "was begun with other annotators") {
		t.Errorf("with others: %v", err)
	}
}

func TestWriteLinks(t *testing.T) {
	registry := memoryRegistry()
	ctx := t.Context()
	if _, err := registry.Add(ctx, "s", []string{"ann", "bo, of somewhere"}); err != nil {
		t.Fatal(err)
	}
	base := "https://study.example.org/"
	links := func(o linkOptions, want int) map[string]string {
		t.Helper()
		o.base = base
		persons, err := registry.List(ctx, "s")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		n, err := writeLinks(ctx, &out, registry, "s", persons, o)
		if err != nil || n != want {
			t.Fatalf("%d links, %v, want %d", n, err, want)
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(rows) != want {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		found := map[string]string{}
		for _, row := range rows {
			token, ok := strings.CutPrefix(row[2], "https://study.example.org/enter#")
			if !ok {
				t.Errorf("link %s", row[2])
			}
			found[row[0]] = token
		}
		return found
	}
	valid := func(token, who string, want bool) {
		t.Helper()
		link, err := registry.Find(ctx, secret.Text(token))
		if (err == nil) != want || want && link.Pseudonym != who {
			t.Errorf("%s finds %+v, %v", who, link, err)
		}
	}
	first := links(linkOptions{}, 2)
	links(linkOptions{}, 0) // everybody has one
	second := links(linkOptions{annotator: "A02"}, 1)
	valid(first["A01"], "A01", true)
	valid(first["A02"], "A02", false)
	valid(second["A02"], "A02", true)
	third := links(linkOptions{renew: true}, 2)
	valid(first["A01"], "A01", false)
	valid(third["A01"], "A01", true)
	leader := links(linkOptions{leader: true}, 1)
	if link, err := registry.Find(ctx, secret.Text(leader["leader"])); err != nil || !link.Leader {
		t.Errorf("the leader is %+v, %v", link, err)
	}
	if _, err := writeLinks(ctx, &bytes.Buffer{}, registry, "s", nil, linkOptions{annotator: "A77"}); err == nil {
		t.Error("a link for nobody")
	}
}

func TestWriteStudyView(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	open := study.Assignment{Annotator: "A01", Modality: annotation.Text, Batch: 3, Items: []int{1, 2}}
	v := studyView{
		Status: study.Status{
			Study: "s", Stage: study.Judging, Paused: true,
			Modalities: []study.ModalityStatus{{Modality: annotation.Text, Items: 9, Closed: 4, Yes: 2, No: 1, Short: 2, Adjudicated: map[study.Adjudication]int{study.Needed: 1}}},
			Annotators: []study.AnnotatorStatus{
				{Desk: study.Desk{Annotator: "A01", Active: true, Open: &open, Done: 1, Waiting: 2}}, {Desk: study.Desk{Annotator: "A02", Done: 3}, Flags: 1},
			},
			Flagged: []study.FlaggedBatch{{Annotator: "A02", Part: "text-01", Flags: []study.Flag{{Code: study.FlagFast, Text: "2 of 9 items judged in less time than they take"}}}},
		},
		Open: []study.Progress{{Assignment: open, Opened: noon, Deadline: noon.Add(48 * time.Hour), Reminder: noon.Add(time.Hour), Judgments: []study.Judgment{{Time: noon.Add(time.Minute)}}}},
	}
	shown := func() string {
		var out bytes.Buffer
		if err := writeStudyView(&out, v); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	want := `study s: judging, paused

modality  items  closed  YES  NO  short of votes  to adjudicate  in review  adjudicated  unresolved
text      9      4       2    1   2               1              0          0            0

annotator  given back  waiting  open     judged  deadline          flags  
A01        1           2        text-03  1 of 2  2026-05-03 12:00  0      remind: nothing since 2026-05-01 12:01
A02        3           0                                           1      removed

flagged, for you to judge; nothing of it is left out:
  A02 text-01: 2 of 9 items judged in less time than they take (fast)
`
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	v.Open, v.Annotators = nil, nil
	if !strings.Contains(shown(), "2 items lack votes, and nobody is to give them: `starter annotation add s CONTACT`, or `starter annotation close s --stage judging`") {
		t.Error(shown())
	}
	v.Stage = study.Adjudicating
	if !strings.Contains(shown(), "1 items need an adjudicator who hasn't judged them") {
		t.Error(shown())
	}
}
