package activities

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
)

const (
	onceKey      = "turns/k.wav"
	onceLifetime = time.Minute
)

// onceResult is what one call of Do gave.
type onceResult struct {
	Ref  objectstore.Ref
	Made bool
}

// once returns an Once at noon on a new store, and its log's messages.
func newOnce() (o Once, messages func() []string) {
	core, logs := observer.New(zap.InfoLevel)
	return Once{Store: mem.New(), Log: zap.New(core), Now: func() time.Time { return noon }}, func() []string {
		var messages []string
		for _, entry := range logs.All() {
			messages = append(messages, entry.Message)
		}
		return messages
	}
}

// doOnce calls Do in an activity.
func doOnce(t *testing.T, o Once, makeIt func(context.Context) (Object, error)) (onceResult, error) {
	t.Helper()
	return run[onceResult](t, func(ctx context.Context) (onceResult, error) {
		ref, made, err := o.Do(ctx, onceKey, onceLifetime, makeIt)
		return onceResult{ref, made}, toTemporal(err)
	})
}

func bodyOf(text string) func(context.Context) (Object, error) {
	return func(context.Context) (Object, error) { return Object{Body: []byte(text)}, nil }
}

func TestOnceMakesAndFinds(t *testing.T) {
	o, messages := newOnce()
	first, err := doOnce(t, o, bodyOf("audio"))
	if err != nil || !first.Made || first.Ref.Key != onceKey {
		t.Fatalf("first call: %+v, %v", first, err)
	}
	second, err := doOnce(t, o, func(context.Context) (Object, error) {
		t.Error("made again")
		return Object{}, nil
	})
	if err != nil || second.Made || second.Ref != first.Ref {
		t.Errorf("second call: %+v, %v", second, err)
	}
	if diff := cmp.Diff([]string{"call", "stored"}, messages()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// Sixteen activities want the same key at once: one makes it, the others wait
// for it and find it.
func TestOnceConcurrently(t *testing.T) {
	const callers = 16
	o, messages := newOnce()
	var made atomic.Int32
	want := func(ctx context.Context) (onceResult, error) {
		ref, isNew, err := o.Do(ctx, onceKey, onceLifetime, func(context.Context) (Object, error) {
			made.Add(1)
			return Object{Body: []byte("audio")}, nil
		})
		return onceResult{ref, isNew}, toTemporal(err)
	}
	fanOut := func(ctx workflow.Context) ([]onceResult, error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute,
			RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 16},
		})
		futures := make([]workflow.Future, callers)
		for i := range futures {
			futures[i] = workflow.ExecuteActivity(ctx, want)
		}
		results := make([]onceResult, callers)
		for i, future := range futures {
			if err := future.Get(ctx, &results[i]); err != nil {
				return nil, err
			}
		}
		return results, nil
	}

	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(want)
	env.RegisterWorkflow(fanOut)
	env.ExecuteWorkflow(fanOut)
	var results []onceResult
	if err := env.GetWorkflowResult(&results); err != nil {
		t.Fatal(err)
	}
	isNew := 0
	for _, r := range results {
		if r.Made {
			isNew++
		}
		if r.Ref != results[0].Ref || r.Ref.Key != onceKey {
			t.Errorf("ref %+v, want %+v", r.Ref, results[0].Ref)
		}
	}
	if made.Load() != 1 || isNew != 1 {
		t.Errorf("made %d times, %d callers say so; want 1 and 1", made.Load(), isNew)
	}
	if diff := cmp.Diff([]string{"call", "stored"}, messages()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestOnceUnderAnothersClaim(t *testing.T) {
	o, messages := newOnce()
	if _, err := objectstore.Acquire(t.Context(), o.Store, onceKey, "other", noon, onceLifetime); err != nil {
		t.Fatal(err)
	}
	_, err := doOnce(t, o, bodyOf("mine"))
	failedWith(t, err, "claimed", true)
	if len(messages()) != 0 {
		t.Errorf("log %q: something was called under another's claim", messages())
	}

	o.Now = func() time.Time { return noon.Add(onceLifetime) }
	result, err := doOnce(t, o, bodyOf("mine"))
	if err != nil || !result.Made {
		t.Errorf("after the claim's expiry: %+v, %v", result, err)
	}
}

// storedBetween is a store in which a result appears between a claimer's first
// look and its claim.
type storedBetween struct {
	objectstore.Store
	looks *int
}

func (s storedBetween) Stat(ctx context.Context, key string) (objectstore.Ref, error) {
	if *s.looks++; *s.looks == 1 {
		return objectstore.Ref{}, objectstore.NotFound(key)
	}
	return s.Store.Stat(ctx, key)
}

// Whoever claims a key that others have claimed before looks again.
func TestOnceLooksAgainUnderItsClaim(t *testing.T) {
	o, messages := newOnce()
	claim, err := objectstore.Acquire(t.Context(), o.Store, onceKey, "other", noon, onceLifetime)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := objectstore.PutBytes(t.Context(), o.Store, onceKey, []byte("theirs"), objectstore.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Store = storedBetween{o.Store, new(int)}
	result, err := doOnce(t, o, bodyOf("mine"))
	if err != nil || result.Made || result.Ref != theirs || len(messages()) != 0 {
		t.Errorf("%+v, %v, log %q; want theirs and no call", result, err, messages())
	}
}

// A result that another stored while a call took too long stays, and is what
// the late caller gets.
func TestOnceStoredResultWins(t *testing.T) {
	o, _ := newOnce()
	var theirs objectstore.Ref
	result, err := doOnce(t, o, func(ctx context.Context) (Object, error) {
		var err error
		theirs, err = objectstore.PutBytes(ctx, o.Store, onceKey, []byte("theirs"), objectstore.PutOptions{})
		return Object{Body: []byte("mine")}, err
	})
	if err != nil || result.Made || result.Ref != theirs {
		t.Errorf("%+v, %v; want %+v, not made", result, err, theirs)
	}
}

func TestOnceFailure(t *testing.T) {
	o, messages := newOnce()
	_, err := doOnce(t, o, func(context.Context) (Object, error) { return Object{}, errors.New("engine broke") })
	failedWith(t, err, "internal", true)
	if diff := cmp.Diff([]string{"call", "call failed"}, messages()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	// The claim is given back: another needn't wait for its expiry.
	if _, err := objectstore.Acquire(t.Context(), o.Store, onceKey, "other", noon, onceLifetime); err != nil {
		t.Errorf("claim after a failure: %v", err)
	}
}

func TestOnceBoundsItsCall(t *testing.T) {
	o, _ := newOnce()
	if _, err := doOnce(t, o, func(ctx context.Context) (Object, error) {
		deadline, ok := ctx.Deadline()
		if left := time.Until(deadline); !ok || left > onceLifetime {
			t.Errorf("deadline in %s, set: %v; want at most %s", left, ok, onceLifetime)
		}
		return Object{}, nil
	}); err != nil {
		t.Error(err)
	}
}
