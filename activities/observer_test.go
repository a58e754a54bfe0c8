package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// notes writes down what it is told.
type notes struct {
	mu   sync.Mutex
	told []string
	used evaluation.Usage
}

func (n *notes) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, fmt.Sprintf(format, args...))
}

func (n *notes) Call(ctx context.Context, step, engine string) (context.Context, func(error)) {
	return ctx, func(err error) { n.note("%s by %s: %v", step, engine, err) }
}

func (n *notes) Used(_ string, u evaluation.Usage, _ evaluation.Prices) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.used.Add(u)
}

func (n *notes) Tokens(detector string, read, written int) {}
func (n *notes) Composed(seconds float64, _ time.Duration) { n.note("clip of %.1f s", seconds) }
func (n *notes) Voted(detector string, v vote.Vote)        { n.note("%s votes %s", detector, v) }
func (n *notes) Recorded(r evaluation.Record)              { n.note("recorded %s", r.Verdict.Verdict) }

func TestObserver(t *testing.T) {
	f := newFixture(t, nil)
	seen := &notes{}
	f.speech.Library.Observer = seen
	task := f.heard(t)
	for range 2 {
		must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task, Index: 3})
	}
	must[TurnResult](t, f.speech.SynthesizeTurn, TurnTask{Task: f.task, Turn: 0})
	must[Plan](t, f.planner.PlanDialogue, f.task)

	want := evaluation.Usage{TurnsMade: 2, TurnsStored: 2, Characters: 37, ClipsStored: 1, Recognized: 1, PassesMade: 2, PassesStored: 1, Questions: 2}
	if diff := cmp.Diff(want, seen.used); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"SynthesizeTurn by tones: <nil>", "RecognizeClip by ears: <nil>", "PrepareItem by stand-in: <nil>", "DetectPass by stand-in: <nil>",
		"stand-in votes YES", "clip of 5.8 s",
	} {
		if !slices.Contains(seen.told, want) {
			t.Errorf("not told %q", want)
		}
	}
	if t.Failed() {
		t.Log(seen.told)
	}

	f.detector.fail = &fault.Error{Kind: fault.Wait, Op: "ask", Code: "busy", Err: errors.New("later")}
	if _, err := run[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task, Index: 4}); err == nil {
		t.Fatal("no error")
	}
	if last := seen.told[len(seen.told)-1]; last != "DetectPass by stand-in: ask: later" || seen.used.PassesMade != 2 {
		t.Errorf("told %q, used %+v", last, seen.used)
	}
}

// Every line about a call says whose it is, and none what is said in it.
func TestLogFields(t *testing.T) {
	f := newFixture(t, nil)
	task := f.heard(t)
	must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task, Index: 3})
	var stored []string
	for _, entry := range f.log.FilterMessage("stored").All() {
		fields := entry.ContextMap()
		folder, _, _ := strings.Cut(fmt.Sprint(fields["key"]), "/")
		delete(fields, "key")
		stored = append(stored, fmt.Sprint(folder, " ", fields))
	}
	want := []string{
		"turns map[dialogue:7 evaluation:e turn:0]",
		"turns map[dialogue:7 evaluation:e turn:1]",
		"transcripts map[dialogue:7 evaluation:e]",
		"prepared map[dialogue:7 evaluation:e modality:audio]",
		"passes map[dialogue:7 evaluation:e modality:audio pass:3]",
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, entry := range f.log.All() {
		if strings.Contains(fmt.Sprint(entry.Message, entry.ContextMap()), "listen") {
			t.Errorf("%v has a turn's words", entry)
		}
	}
}
