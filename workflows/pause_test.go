package workflows

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// noCredits is what an activity returns when only a person can help.
func noCredits() error {
	return temporal.NewApplicationErrorWithOptions("the account is empty", "quota_exceeded", temporal.ApplicationErrorOptions{
		NonRetryable: true, Details: []any{evaluation.Reason{Code: "quota_exceeded", Message: "the account is empty: 120 credits are missing"}},
	})
}

// treeOf is an environment with the whole tree on one chunk of n dialogues,
// three at once.
func treeOf(t *testing.T, f *fakes, n int) (*testsuite.TestWorkflowEnvironment, EvaluateInput) {
	t.Helper()
	f.chunks["chunk"] = chunkOf(n)
	env := environment(t, f)
	env.RegisterWorkflow(EvaluateChunk)
	env.RegisterWorkflow(EvaluateDialogue)
	in := inputOf(1)
	in.Items, in.Limits.Dialogues = n, 3
	return env, in
}

func (f *fakes) let(step string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		delete(f.fail, step)
		return
	}
	f.fail[step] = err
}

func progressOf(t *testing.T, env *testsuite.TestWorkflowEnvironment) evaluation.Progress {
	t.Helper()
	value, err := env.QueryWorkflow(evaluation.QueryProgress)
	if err != nil {
		t.Fatal(err)
	}
	var p evaluation.Progress
	if err := value.Get(&p); err != nil {
		t.Fatal(err)
	}
	return p
}

// An empty account stops everything where it is, with its reason to be seen; the
// resumption makes again only what could not be made, and fails nothing.
func TestPauseAndResume(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 8)
	f.let("SynthesizeTurn 1", noCredits())
	env.RegisterDelayedCallback(func() {
		p := progressOf(t, env)
		if p.Paused == nil || p.Paused.Code != "quota_exceeded" || !strings.Contains(p.Paused.Message, "120 credits") || p.Done != 0 {
			t.Errorf("progress %+v, paused %+v", p, p.Paused)
		}
		if got := f.count("PlanDialogue"); got != 3 {
			t.Errorf("%d dialogues began, want the window of 3", got)
		}
		f.let("SynthesizeTurn 1", nil)
		resume := evaluation.Resume{Generation: p.Paused.Generation + 1}
		env.SignalWorkflow(evaluation.SignalResume, resume)
		env.SignalWorkflow(evaluation.SignalResume, resume) // sent twice: nothing more
	}, time.Hour)
	env.ExecuteWorkflow(Evaluate, in)
	var result EvaluateResult
	if err := env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	if p := result.Progress; p.Done != 8 || p.Failed != 0 || p.Paused != nil {
		t.Errorf("progress %+v", p)
	}
	want := map[string]int{"SynthesizeTurn 0": 8, "SynthesizeTurn 1": 8 + 3, "SynthesizeTurn 3": 8, "SaveRecord": 8}
	for step, n := range want {
		if got := f.count(step); got != n {
			t.Errorf("%s: %d times, want %d", step, got, n)
		}
	}
}

// A resumption that doesn't help pauses again; an old one is ignored.
func TestPauseAgain(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 4)
	f.let("ComposeClip", noCredits())
	generations := []int{}
	env.RegisterDelayedCallback(func() {
		p := progressOf(t, env)
		generations = append(generations, p.Paused.Generation)
		env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: 1})
	}, time.Hour)
	env.RegisterDelayedCallback(func() {
		p := progressOf(t, env)
		if p.Paused == nil {
			t.Error("not paused again")
			return
		}
		generations = append(generations, p.Paused.Generation)
		f.let("ComposeClip", nil)
		env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: 1}) // stale
	}, 2*time.Hour)
	env.RegisterDelayedCallback(func() {
		if p := progressOf(t, env); p.Paused == nil {
			t.Error("a stale resumption resumed")
		}
		env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: 2})
	}, 3*time.Hour)
	env.ExecuteWorkflow(Evaluate, in)
	var result EvaluateResult
	if err := env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1}, generations); diff != "" {
		t.Errorf("generations (-want +got):\n%s", diff)
	}
	if p := result.Progress; p.Done != 4 || p.Failed != 0 {
		t.Errorf("progress %+v", p)
	}
}

// What the evaluation itself checks pauses it too, before anything is rendered.
func TestPauseOnBadKey(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 2)
	f.let("CheckSpeech", noCredits())
	env.RegisterDelayedCallback(func() {
		if p := progressOf(t, env); p.Paused == nil || p.Started != 0 {
			t.Errorf("progress %+v", p)
		}
		f.let("CheckSpeech", nil)
		env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: 1})
	}, time.Hour)
	env.ExecuteWorkflow(Evaluate, in)
	var result EvaluateResult
	if err := env.GetWorkflowResult(&result); err != nil || result.Progress.Done != 2 {
		t.Errorf("%v, progress %+v", err, result.Progress)
	}
	if got := f.count("CheckRecognizer"); got != 1 {
		t.Errorf("the recogniser was checked %d times", got)
	}
}

// An operator's pause lets what is in flight end, and admits nothing more.
func TestPauseByOperator(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 9)
	f.on["PlanDialogue"] = func() {
		env.SignalWorkflow(evaluation.SignalPause, evaluation.Pause{Reason: evaluation.Reason{Code: evaluation.ReasonOperator, Message: "lunch"}})
	}
	env.RegisterDelayedCallback(func() {
		p := progressOf(t, env)
		if p.Paused == nil || p.Paused.Message != "lunch" || f.count("SaveRecord") == 9 || f.count("SaveRecord") != f.count("PlanDialogue") {
			t.Errorf("%d of %d that began are recorded, paused %+v", f.count("SaveRecord"), f.count("PlanDialogue"), p.Paused)
		}
		f.mu.Lock()
		delete(f.on, "PlanDialogue")
		f.mu.Unlock()
		env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: 1})
	}, time.Hour)
	env.ExecuteWorkflow(Evaluate, in)
	var result EvaluateResult
	if err := env.GetWorkflowResult(&result); err != nil || result.Progress.Done != 9 || result.Progress.Failed != 0 {
		t.Errorf("%v, progress %+v", err, result.Progress)
	}
}

func TestCancelWhilePaused(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 4)
	f.let("SynthesizeTurn 0", noCredits())
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	env.ExecuteWorkflow(Evaluate, in)
	if err := env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Errorf("error %v, want that it is cancelled", err)
	}
	if f.count("SaveRecord") != 0 || f.count("WriteReport") != 1 {
		t.Errorf("%d records, %d reports", f.count("SaveRecord"), f.count("WriteReport"))
	}
}

// A set-up that is broken stops before it has used up everything.
func TestMaxFailures(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 12)
	in.Limits.Failures, in.Limits.Dialogues = 2, 1
	f.let("ComposeClip", temporal.NewNonRetryableApplicationError("nothing audible", "bad_input", nil))
	var seen []int
	for hour := range 2 {
		env.RegisterDelayedCallback(func() {
			p := progressOf(t, env)
			if p.Paused == nil || p.Paused.Code != evaluation.ReasonFailures {
				t.Errorf("paused %+v after %d failures", p.Paused, p.Failed)
				return
			}
			seen = append(seen, f.count("SaveRecord"))
			if hour == 1 {
				f.let("ComposeClip", nil)
			}
			env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: hour + 1})
		}, time.Duration(hour+1)*time.Hour)
	}
	env.ExecuteWorkflow(Evaluate, in)
	var result EvaluateResult
	if err := env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	// One more may have begun while the signal was on its way.
	if len(seen) != 2 || seen[0] < 2 || seen[0] > 3 || seen[1] < seen[0]+1 || seen[1] > 6 {
		t.Errorf("recorded at the pauses: %v", seen)
	}
	if p := result.Progress; p.Done != 12 || p.Failed != seen[1] {
		t.Errorf("progress %+v", p)
	}
}
