package activities

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Attempts are counted by what they came to: only failures end an activity.
func TestAttempts(t *testing.T) {
	failing := errors.New("connection reset")
	waiting := &fault.Error{Kind: fault.Wait, Op: "speak", Code: "busy", Err: failing}
	for _, test := range []struct {
		name    string
		before  *tries // of the attempts before; nil when none left word
		err     error
		want    tries // what the next attempt finds
		retried bool
	}{
		{"a first failure", nil, failing, tries{Failures: 1}, true},
		{"a wait is no failure", &tries{Failures: 3, Waits: 9}, waiting, tries{Failures: 3, Waits: 10}, true},
		{"many waits are no failure", &tries{Waits: 5000}, waiting, tries{Waits: 5001}, true},
		{"the last failure", &tries{Failures: MaxFailures - 1}, failing, tries{}, false},
		{"before the last failure", &tries{Failures: MaxFailures - 2, Waits: 40}, failing, tries{Failures: MaxFailures - 1, Waits: 40}, true},
		{"permanent", nil, fault.Permanentf("speak", "voice_not_found", "no voice"), tries{}, false},
		{"pause", nil, &fault.Error{Kind: fault.Pause, Op: "speak", Code: "quota_exceeded", Err: failing}, tries{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := newAttemptsEnvironment(test.before)
			var beat tries
			beats := 0
			env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
				beats++
				if err := details.Get(&beat); err != nil {
					t.Error(err)
				}
			})
			fails := func(context.Context) error { return toTemporal(test.err) }
			env.RegisterActivity(fails)
			_, err := env.ExecuteActivity(fails)
			var failed *temporal.ApplicationError
			if !errors.As(err, &failed) || failed.NonRetryable() == test.retried {
				t.Fatalf("error %v, retried %v expected", err, test.retried)
			}
			if (beats > 0) != test.retried || beat != test.want {
				t.Errorf("%d beats with %+v, want %+v", beats, beat, test.want)
			}
		})
	}
}

func newAttemptsEnvironment(before *tries) *testsuite.TestActivityEnvironment {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&Attempts{}}})
	if before != nil {
		env.SetHeartbeatDetails(*before)
	}
	return env
}

// Where a store writes nothing and doesn't say why, the evaluation pauses in the end.
func TestUnwritablePauses(t *testing.T) {
	for before, paused := range map[int]bool{0: false, MaxFailures - 2: false, MaxFailures - 1: true} {
		env := newAttemptsEnvironment(&tries{Failures: before})
		fails := func(context.Context) error {
			return toTemporal(&fault.Error{Kind: fault.Transient, Op: "write", Code: objectstore.CodeUnwritable, Err: errors.New("500")})
		}
		env.RegisterActivity(fails)
		_, err := env.ExecuteActivity(fails)
		var failed *temporal.ApplicationError
		var reason evaluation.Reason
		if !errors.As(err, &failed) || failed.HasDetails() != paused || failed.NonRetryable() != paused {
			t.Fatalf("after %d failures: %v, paused %v expected", before, err, paused)
		}
		if paused && (failed.Details(&reason) != nil || reason.Code != objectstore.CodeUnwritable || reason.Message == "") {
			t.Errorf("reason %+v", reason)
		}
	}
}

// An attempt that left no word counts as a failure; the tests' environment is
// always in its first attempt, so that this looks at the sum alone.
func TestExhaustedAttemptsMakeNoCall(t *testing.T) {
	env := newAttemptsEnvironment(&tries{Failures: MaxFailures})
	called := false
	call := func(context.Context) error { called = true; return nil }
	env.RegisterActivity(call)
	_, err := env.ExecuteActivity(call)
	var failed *temporal.ApplicationError
	if called || !errors.As(err, &failed) || !failed.NonRetryable() || failed.Type() != "attempts_exhausted" {
		t.Errorf("called %v, error %v", called, err)
	}
}
