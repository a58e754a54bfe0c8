package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/overview"
)

func TestPrintTop(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(seconds, done int) overview.View {
		return overview.View{
			At: noon.Add(time.Duration(seconds) * time.Second),
			Evaluations: []overview.Evaluation{
				{ID: "a", Detector: "chat", Started: noon, Progress: &evaluation.Progress{
					Stage: "evaluating", Total: 100, Counts: evaluation.Counts{Started: done + 4, Done: done, Yes: done - 1, Failed: 1, Usage: evaluation.Usage{TurnsMade: 3, PassesStored: 5}},
				}},
				{ID: "b", Started: noon, Progress: &evaluation.Progress{
					Stage: "evaluating", Total: 7, Paused: &evaluation.Pause{Reason: evaluation.Reason{Code: "quota", Message: "no \033[2Jcredits"}},
				}},
				{ID: "c"},
			},
			Queues: []overview.Queue{
				{Name: "audio", Tasks: "activity", Pollers: make([]overview.Poller, 2), Slots: &overview.Slots{Used: 1, Total: 4}, Backlog: 9, Oldest: 2.2},
				{Name: "speech-gone", Tasks: "activity"},
			},
			Schedules: overview.Schedules{Active: 1, Missed: 2},
		}
	}
	var frame bytes.Buffer
	printTop(&frame, "default", at(20, 30), at(10, 20), errors.New("one thing\nis missing"))
	// The wording of the pause has the local time in it.
	text := frame.String()
	for _, want := range []string{
		"12:00:20  namespace default, 3 evaluations run",
		"a           chat      evaluating         30/100  29   0   0           1       4          1.00        1m10s",
		"b                     paused             0/7     0    0   0           0       0          0.00        unknown",
		"c                     no worker answers",
		`b paused since`, `(quota): no \x1b[2Jcredits; then: starter resume b`,
		"a made (and found): 3 (0) turns, 0 (0) clips, 0 (0) transcripts, 0 (5) answers",
		"audio        activity  2        1 of 4        9        2s      0.0   0.0",
		`no worker polls queue "speech-gone" for activity tasks`,
		"schedules: 1 active, 0 paused; actions: 0 taken, 0 skipped, 2 missed",
		`not all could be seen: one thing\nis missing`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(text, "\033") {
		t.Error("a text from outside steers the terminal")
	}
	if t.Failed() {
		t.Log(text)
	}
	frame.Reset()
	printTop(&frame, "default", at(20, 30), overview.View{}, nil)
	if !strings.Contains(frame.String(), "1.50        47s") { // the average since the beginning
		t.Errorf("the first look shows\n%s", &frame)
	}
}

func TestScreen(t *testing.T) {
	for _, test := range []struct {
		terminal bool
		want     string
	}{
		{false, "one\n\ntwo\n"},
		{true, "\033[2J\033[Hone\033[K\n\033[J\033[Htwo\033[K\n\033[J"},
	} {
		var out bytes.Buffer
		s := screen{out: &out, terminal: test.terminal}
		for _, frame := range []string{"one\n", "two\n"} {
			s.show(func(to io.Writer) { _, _ = io.WriteString(to, frame) })
		}
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("terminal %v (-want +got):\n%s", test.terminal, diff)
		}
	}
}
