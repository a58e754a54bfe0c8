package trend

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// hostile is text that steers a terminal or a page.
const hostile = "<script>alert(1)</script>\x1b[2J\u202e"

func history(t *testing.T) History {
	t.Helper()
	firing := func(n int) evaluation.Firing {
		return evaluation.Firing{Schedule: "nightly", Evaluation: "nightly-" + string(rune('0'+n)), Due: due.Add(time.Duration(n) * 24 * time.Hour)}
	}
	same, lost := look(t, 1, 36, nil), look(t, 2, 10, func(in *report.Input) { in.Engines.Detector.Model = hostile })
	same.Firing, lost.Firing = firing(1), firing(3)
	h := NewHistory(same.Schedule, []evaluation.Firing{firing(1), firing(2), firing(3)}, []evaluation.Outcome{same.Outcome(), lost.Outcome()})
	h.Firings[1].State, h.Firings[1].Why = "failed", hostile
	h.Actions = &Actions{Taken: 3, Skipped: 2, Missed: 4, Paused: true, Note: hostile}
	return h
}

// Every form names every firing, what was skipped, missed and failed, and lets no text
// from outside through.
func TestHistoryForms(t *testing.T) {
	h := history(t)
	for name, write := range map[string]func(*bytes.Buffer, History) error{
		"text": func(b *bytes.Buffer, h History) error { return WriteText(b, h) },
		"page": func(b *bytes.Buffer, h History) error { return WriteHTML(b, h) },
	} {
		var b bytes.Buffer
		if err := write(&b, h); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		for _, want := range []string{
			"nightly-1", "nightly-2", "nightly-3", "3 firings: 2 done, 1 failed", "skipped: 2, as one still ran", "missed: 4 by Temporal", "0.900", "0.250",
			"REGRESSION: recall went from 0.900 to 0.250", "2026-03-02 02:30:00Z", "SHOWN",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, got)
			}
		}
		if strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "<script") && name == "page" {
			t.Errorf("%s: text from outside is not escaped:\n%s", name, got)
		}
		if name == "page" && (strings.Contains(got, "http://") || strings.Contains(got, "https://")) {
			t.Error("the page asks for something else")
		}
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, h); err != nil {
		t.Fatal(err)
	}
	var back History
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, back); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

// A firing without figures breaks the line and is marked.
func TestChart(t *testing.T) {
	c := newChart("recall", history(t))
	var kinds []string
	for _, m := range c.Marks {
		kinds = append(kinds, m.Kind)
	}
	if diff := cmp.Diff([]string{"dot", "none", "lost"}, kinds); diff != "" || len(c.Lines) != 2 {
		t.Errorf("lines %q, marks (-want +got):\n%s", c.Lines, diff)
	}
	if !strings.Contains(c.Desc, "recall at 2 of 3 firings") {
		t.Error(c.Desc)
	}
}

// What ended before it was stored is added in its place, and nothing twice.
func TestHistoryAdd(t *testing.T) {
	h := history(t)
	h.Add(Row{Firing: evaluation.Firing{Evaluation: "nightly-3"}})
	h.Add(Row{Firing: evaluation.Firing{Evaluation: "early", Due: due}, State: "failed"})
	var ids []string
	for _, r := range h.Firings {
		ids = append(ids, r.Evaluation)
	}
	if diff := cmp.Diff([]string{"early", "nightly-1", "nightly-2", "nightly-3"}, ids); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.Actions = nil
	if lines := strings.Join(h.Lines(), "\n"); !strings.Contains(lines, "skipped and missed: not known") {
		t.Error(lines)
	}
}

func TestChooseCanary(t *testing.T) {
	var items []evaluation.Item
	var records []evaluation.Record
	for i, p := range []float64{0.9, 0.1, 0.5, 0.7, 0.3} {
		id := string(rune('a' + i))
		items = append(items, evaluation.Item{ID: id})
		records = append(records, judged(id, "", vote.Yes, p))
	}
	failed, silent := judged("f", "", vote.Yes, 0.2), judged("s", "", vote.Yes, -1)
	failed.Failure = &evaluation.Failure{Code: "gone"}
	silent.Passes = nil
	for _, r := range []evaluation.Record{failed, silent} {
		items, records = append(items, evaluation.Item{ID: r.ID}), append(records, r)
	}
	spec := evaluation.Spec{Rules: vote.Paper()}
	for n, want := range map[int]string{1: "b", 2: "ba", 3: "bca", 5: "becda", 9: "becda"} {
		got := ""
		for _, c := range ChooseCanary(spec, items, records, n) {
			got += c.Item.ID
		}
		if got != want {
			t.Errorf("%d of them: %q, want %q", n, got, want)
		}
	}
}
