package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// fakeEngine answers as a test says, after a while.
type fakeEngine struct {
	speech speech.Speech
	err    error
	takes  time.Duration
	calls  int
}

func (f *fakeEngine) Engine(context.Context) (speech.Engine, error) {
	return speech.Engine{Name: "fake"}, nil
}
func (f *fakeEngine) Check(context.Context, voice.Pool) error { return nil }
func (f *fakeEngine) Account(context.Context) (speech.Account, error) {
	return speech.Account{Plan: "fake"}, nil
}

func (f *fakeEngine) Synthesize(ctx context.Context, _ speech.Request) (speech.Speech, error) {
	f.calls++
	select {
	case <-time.After(f.takes):
		return f.speech, f.err
	case <-ctx.Done():
		return speech.Speech{}, ctx.Err()
	}
}

func TestLimited(t *testing.T) {
	leaseTest(t, 2, func(t *testing.T, s *leasedSlots, f *fakeLessor) {
		engine := &fakeEngine{speech: speech.Speech{Characters: 3, Ceiling: 5}}
		l := &limited{paid: engine, slots: s}
		if got, err := l.Synthesize(t.Context(), speech.Request{}); err != nil || got.Characters != 3 {
			t.Errorf("%+v, %v", got, err)
		}
		time.Sleep(evaluation.LeaseRenewal(testExpiry))
		synctest.Wait()
		if ask := f.last(); ask.Told != 5 || ask.Congested {
			t.Errorf("asked %+v, the provider told 5", ask)
		}
		for _, test := range []struct {
			code string
			want bool
		}{{"system_busy", false}, {speech.CodeConcurrency, true}} {
			before := f.count()
			engine.speech, engine.err = speech.Speech{}, &fault.Error{Kind: fault.Wait, Code: test.code, Err: errors.New("no")}
			if _, err := l.Synthesize(t.Context(), speech.Request{}); fault.KindOf(err) != fault.Wait {
				t.Errorf("%s gives %v", test.code, err)
			}
			time.Sleep(evaluation.LeaseRenewal(testExpiry))
			synctest.Wait()
			congested := slices.ContainsFunc(f.asks[before:], func(ask evaluation.Lease) bool { return ask.Congested })
			if congested != test.want || f.last().Told != 5 {
				t.Errorf("%s: asked %+v", test.code, f.asks[before:])
			}
		}
		if s.calls != 0 {
			t.Errorf("%d calls in flight at the end", s.calls)
		}
		if account, err := any(l).(speech.Accountant).Account(t.Context()); err != nil || account.Plan != "fake" {
			t.Errorf("account %+v, %v", account, err)
		}
	})
}

// A call never outlives its lease, whatever the caller would allow.
func TestLimitedCallIsCutOff(t *testing.T) {
	leaseTest(t, 2, func(t *testing.T, s *leasedSlots, _ *fakeLessor) {
		l := &limited{paid: &fakeEngine{takes: time.Hour}, slots: s}
		start := time.Now()
		_, err := l.Synthesize(t.Context(), speech.Request{})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Transient || f.Code != "timeout" || time.Since(start) != evaluation.LeasedCall(testExpiry) {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Synthesize(ctx, speech.Request{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's deadline gives %v", err)
		}
	})
}

func TestLimitedWithoutASlot(t *testing.T) {
	leaseTest(t, 0, func(t *testing.T, s *leasedSlots, _ *fakeLessor) {
		engine := &fakeEngine{}
		if _, err := (&limited{paid: engine, slots: s}).Synthesize(t.Context(), speech.Request{}); fault.KindOf(err) != fault.Wait || engine.calls != 0 {
			t.Errorf("%v, %d calls", err, engine.calls)
		}
	})
}
