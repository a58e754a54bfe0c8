package workflows

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

func limiterEnvironment() *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflow(Limiter)
	return env
}

// ask sends an ask to the limiter after a while; answer gets what it says.
func ask(env *testsuite.TestWorkflowEnvironment, after time.Duration, lease evaluation.Lease, answer func(evaluation.Slots, error)) {
	if lease.Expiry == 0 {
		lease.Expiry = evaluation.LeaseExpiry
	}
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(evaluation.UpdateLease, "", &testsuite.TestUpdateCallback{
			OnAccept: func() {},
			OnReject: func(err error) { answer(evaluation.Slots{}, err) },
			OnComplete: func(result any, err error) {
				slots, _ := result.(evaluation.Slots)
				answer(slots, err)
			},
		}, lease)
	}, after)
}

func TestLimiterAnswers(t *testing.T) {
	env := limiterEnvironment()
	answers := 0
	expect := func(slots int) func(evaluation.Slots, error) {
		return func(got evaluation.Slots, err error) {
			answers++
			if err != nil || got != (evaluation.Slots{Slots: slots, Ceiling: 4}) {
				t.Errorf("answer %d: %+v, %v, want %d slots of 4", answers, got, err, slots)
			}
		}
	}
	ask(env, time.Second, evaluation.Lease{Worker: "a", Seq: 1, Want: 4, Bound: 4}, expect(4))
	ask(env, 2*time.Second, evaluation.Lease{Worker: "b", Seq: 1, Want: 4, Bound: 4}, expect(0))
	ask(env, 3*time.Second, evaluation.Lease{Worker: "a", Seq: 1, Want: 1, Bound: 4}, func(_ evaluation.Slots, err error) {
		answers++
		if err == nil {
			t.Error("an ask was answered twice")
		}
	})
	env.RegisterDelayedCallback(func() {
		var status evaluation.LimiterStatus
		value, err := env.QueryWorkflow(evaluation.QuerySlots)
		if err != nil || value.Get(&status) != nil || status.Ceiling != 4 || status.Slots["a"] != 4 || len(status.Slots) != 2 {
			t.Errorf("status %+v, %v", status, err)
		}
	}, 4*time.Second)
	ask(env, time.Second+evaluation.LeaseExpiry, evaluation.Lease{Worker: "b", Seq: 2, Want: 4, Bound: 4}, expect(4))
	env.ExecuteWorkflow(Limiter, LimiterState{})
	// Nobody asks any more: it ends.
	if err := env.GetWorkflowError(); !env.IsWorkflowCompleted() || err != nil {
		t.Errorf("ended with %v", err)
	}
	if answers != 4 {
		t.Errorf("%d answers, want 4", answers)
	}
}

// A limiter is no reason for something to run for ever, but it stays while a lease
// does.
func TestLimiterEndsWhenIdle(t *testing.T) {
	env := limiterEnvironment()
	started := env.Now()
	ask(env, limiterIdle-time.Second, evaluation.Lease{Worker: "a", Seq: 1, Want: 1}, func(_ evaluation.Slots, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	env.ExecuteWorkflow(Limiter, LimiterState{})
	if err := env.GetWorkflowError(); err != nil {
		t.Error(err)
	}
	if ran := env.Now().Sub(started); ran != 2*limiterIdle {
		t.Errorf("ran %s, want %s", ran, 2*limiterIdle)
	}
}

func TestLimiterContinuesAsNew(t *testing.T) {
	env := limiterEnvironment()
	ask(env, time.Second, evaluation.Lease{Worker: "a", Seq: 1, Want: 8, Told: 8}, func(evaluation.Slots, error) {})
	ask(env, 2*time.Second, evaluation.Lease{Worker: "a", Seq: 2, Want: 8, Held: 8, Congested: true}, func(evaluation.Slots, error) {})
	env.RegisterDelayedCallback(func() { env.SetCurrentHistoryLength(maxEvents + 1) }, 3*time.Second)
	// What wakes it; the ask itself is left to the next run.
	ask(env, 4*time.Second, evaluation.Lease{Worker: "b", Seq: 1, Want: 8}, func(evaluation.Slots, error) {})
	env.ExecuteWorkflow(Limiter, LimiterState{})

	var next *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("ended with %v", err)
	}
	var state LimiterState
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &state); err != nil {
		t.Fatal(err)
	}
	if state.Told != 8 || state.Cut != 4 || state.CutAt.IsZero() || state.Leases["a"].Reserved != 8 || state.Leases["a"].Seq != 2 {
		t.Errorf("the next run begins with %+v", state)
	}
	// The next run goes on from there: a keeps its slots, and its asks stay in order.
	then := limiterEnvironment()
	then.SetStartTime(state.CutAt.Add(5 * time.Second))
	ask(then, 0, evaluation.Lease{Worker: "a", Seq: 2, Want: 8}, func(_ evaluation.Slots, err error) {
		if err == nil {
			t.Error("an ask was answered twice")
		}
	})
	answered := false
	ask(then, time.Second, evaluation.Lease{Worker: "b", Seq: 2, Want: 8}, func(got evaluation.Slots, err error) {
		answered = true
		if err != nil || got != (evaluation.Slots{Slots: 0, Ceiling: 4}) {
			t.Errorf("b gets %+v, %v", got, err)
		}
	})
	then.ExecuteWorkflow(Limiter, state)
	if err := then.GetWorkflowError(); err != nil || !answered {
		t.Errorf("ended with %v, answered %v", err, answered)
	}
}

func TestLimiterIsCancelled(t *testing.T) {
	env := limiterEnvironment()
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Second)
	env.ExecuteWorkflow(Limiter, LimiterState{})
	if env.GetWorkflowError() == nil {
		t.Error("a cancelled limiter ends as if it had done its work")
	}
}
