package workflows

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/vote"
)

const y, n, x = vote.VoteYes, vote.VoteNo, vote.VoteInvalid

// Early stop makes three passes, then one at a time, only as long as the verdict
// is open.
func TestEarlyStop(t *testing.T) {
	for _, test := range []struct {
		votes []vote.Vote
		calls int
		want  vote.Verdict
	}{
		{[]vote.Vote{y, y, y, n, n}, 3, vote.Yes},
		{[]vote.Vote{n, n, n, y, y}, 3, vote.No},
		{[]vote.Vote{y, n, y, y, n}, 4, vote.Yes},
		{[]vote.Vote{y, n, y, n, n}, 5, vote.No},
		{[]vote.Vote{x, x, x, y, y}, 3, vote.Unresolved}, // two more can't make three
		{[]vote.Vote{x, y, y, x, n}, 5, vote.Unresolved},
	} {
		f := newFakes()
		f.votes, f.plan.Rules.Votes = test.votes, vote.VotesEarlyStop
		result, err := evaluateDialogue(t, f)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.count("DetectPass"); got != test.calls || result.Verdict != test.want {
			t.Errorf("%v: %d passes, %s; want %d, %s", test.votes, got, result.Verdict, test.calls, test.want)
		}
		if got := len(f.record(t).Passes); got != test.calls {
			t.Errorf("%v: %d passes in the record", test.votes, got)
		}
	}
}

func TestAnalyticVotes(t *testing.T) {
	for yes, want := range map[vote.Nano]vote.Verdict{510_000_000: vote.Yes, 500_000_000: vote.Unresolved, 490_000_000: vote.No} {
		f := newFakes()
		f.choice, f.plan.Rules.Votes = yes, vote.VotesAnalytic
		result, err := evaluateDialogue(t, f)
		if err != nil {
			t.Fatal(err)
		}
		record := f.record(t)
		if result.Verdict != want || f.count("DetectPass") != 0 || f.count("ChooseVotes") != 1 || record.Choice.Key != "choice" {
			t.Errorf("%d: %s after %d passes and %d choices, record %+v", yes, result.Verdict, f.count("DetectPass"), f.count("ChooseVotes"), record.Judged)
		}
		if (record.Majority > 500_000_000) != (want == vote.Yes) {
			t.Errorf("%d: majority %d", yes, record.Majority)
		}
	}
}

// With the letters in both orders, what depends on their order is UNRESOLVED.
func TestBothOrders(t *testing.T) {
	for _, test := range []struct {
		swapped []vote.Vote
		want    vote.Verdict
	}{
		{[]vote.Vote{y, y, n, n, y}, vote.Yes},
		{[]vote.Vote{n, n, n, n, y}, vote.Unresolved},
	} {
		f := newFakes()
		f.plan.Swap, f.otherVotes = true, map[string][]vote.Vote{"-swapped": test.swapped}
		result, err := evaluateDialogue(t, f)
		if err != nil {
			t.Fatal(err)
		}
		record := f.record(t)
		if result.Verdict != test.want || record.Outcome.Verdict != vote.Yes || record.Swapped == nil || len(record.Swapped.Passes) != 5 {
			t.Errorf("%v: %s, record %+v", test.swapped, result.Verdict, record.Judged)
		}
		if got := f.count("PrepareItem"); got != 2 {
			t.Errorf("%d preparations, want one an order", got)
		}
	}
}

// Of both modalities the clip is the headline, and the text is judged without
// anything that was heard.
func TestBothModalities(t *testing.T) {
	f := newFakes()
	f.plan.Modalities = []detect.Modality{detect.Audio, detect.Text}
	f.otherVotes = map[string][]vote.Vote{"-text": {n, n, n, n, n}}
	result, err := evaluateDialogue(t, f)
	if err != nil {
		t.Fatal(err)
	}
	record := f.record(t)
	if result.Verdict != vote.Yes || record.Text == nil || record.Text.Verdict.Verdict != vote.No || record.Text.Tactic != nil {
		t.Errorf("%s, record %+v, text %+v", result.Verdict, record.Judged, record.Text)
	}
	want := []objectstore.Ref{ref("pass-text0"), ref("pass-text1"), ref("pass-text2"), ref("pass-text3"), ref("pass-text4")}
	if diff := cmp.Diff(want, record.Text.Passes); diff != "" {
		t.Errorf("passes of the text (-want +got):\n%s", diff)
	}
}

// Passes go to the worker that prepared the item; one whose own queue isn't
// served in time, to any.
func TestAffinity(t *testing.T) {
	f := newFakes()
	f.plan.SharesPrefix, f.own = true, "detect-cpu-baseline@12345678"
	env := environment(t, f)
	late := temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil) // the test environment has no queues that nobody serves
	tried := map[string]int{}
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) { tried[info.TaskQueue]++ })
	f.fail["DetectPass 1"] = late
	f.on["DetectPass 1"] = func() { f.let("DetectPass 1", nil) }
	if _, err := dialogueIn(t, env); err != nil {
		t.Fatal(err)
	}
	if tried[f.own] != 5 || f.count("DetectPass 1") != 2 || f.count("DetectPass") != 6 {
		t.Errorf("queues %v, %d passes began", tried, f.count("DetectPass"))
	}
	if got := f.record(t).Outcome; got.Yes != 4 || got.No != 1 {
		t.Errorf("outcome %+v", got)
	}
}

// Exemplars are rendered before the detector is checked, which is shown their
// clips.
func TestExemplars(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 1)
	in.Shown, in.Exemplars = true, []evaluation.Item{{ID: "x1"}, {ID: "x2"}, {ID: "x3"}, {ID: "x4"}}
	f.let("SynthesizeTurn 3", noCredits())
	env.RegisterDelayedCallback(func() {
		if p := progressOf(t, env); p.Paused == nil || f.count("CheckDetector") != 0 {
			t.Errorf("paused %+v, %d detector checks", p.Paused, f.count("CheckDetector"))
		}
		f.let("SynthesizeTurn 3", nil)
		env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: 1})
	}, time.Hour)
	env.ExecuteWorkflow(Evaluate, in)
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if f.checked.Exemplars.Key != "exemplars" || f.count("SaveExemplars 4") != 1 || f.count("ComposeClip") != 5 {
		t.Errorf("the detector was shown %+v; %d clips composed", f.checked.Exemplars, f.count("ComposeClip"))
	}
	e := f.engines[len(f.engines)-1]
	if e.Exemplars.Key != "exemplars" || e.Rendering.TurnsMade != 12 {
		t.Errorf("engines %+v", e)
	}
	stages := f.stages()
	if slices.Index(stages, "CheckDetector") < slices.Index(stages, "SaveExemplars") {
		t.Errorf("order %s", strings.Join(stages, ", "))
	}
}

// Without the quality gate a clip is recognised only for who reads its words.
func TestUnheardClip(t *testing.T) {
	f := newFakes()
	f.plan.Unheard = true
	result, err := evaluateDialogue(t, f)
	if err != nil || result.Verdict != vote.Yes {
		t.Fatalf("%s, %v", result.Verdict, err)
	}
	if record := f.record(t); f.count("RecognizeClip")+f.count("MeasureClip") != 0 || !record.Transcript.IsZero() || !record.Quality.IsZero() {
		t.Errorf("recognised %d times, record %+v", f.count("RecognizeClip"), record)
	}
}
