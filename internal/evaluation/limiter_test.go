package evaluation

import (
	"testing"
	"time"
)

// A call must end before its lease does, and a renewal must come before the lease
// is too short for a call.
func TestLeaseTimes(t *testing.T) {
	for _, expiry := range []time.Duration{MinLeaseExpiry, LeaseExpiry, MaxLeaseExpiry} {
		if err := CheckLeaseExpiry(expiry); err != nil {
			t.Error(err)
		}
		if call := LeasedCall(expiry); call >= expiry || expiry-LeaseRenewal(expiry) <= call {
			t.Errorf("expiry %s: calls take up to %s, renewed every %s", expiry, call, LeaseRenewal(expiry))
		}
	}
	for _, expiry := range []time.Duration{-1, 0, MinLeaseExpiry - 1, MaxLeaseExpiry + 1} {
		if CheckLeaseExpiry(expiry) == nil {
			t.Errorf("an expiry of %s is accepted", expiry)
		}
	}
}

func TestLeaseCheck(t *testing.T) {
	good := Lease{Worker: "w", Want: 4, Held: 2, Expiry: LeaseExpiry}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Lease){
		"no name":         func(l *Lease) { l.Worker = "" },
		"negative want":   func(l *Lease) { l.Want = -1 },
		"negative held":   func(l *Lease) { l.Held = -1 },
		"negative bound":  func(l *Lease) { l.Bound = -1 },
		"negative told":   func(l *Lease) { l.Told = -1 },
		"too many wanted": func(l *Lease) { l.Want = maxWant + 1 },
		"too many held":   func(l *Lease) { l.Held = maxWant + 1 },
		"no expiry":       func(l *Lease) { l.Expiry = 0 },
	} {
		bad := good
		if change(&bad); bad.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCheckAccount(t *testing.T) {
	for name, ok := range map[string]bool{"elevenlabs": true, "team-1": true, "": false, "A": false, "a/b": false, "a b": false} {
		if err := CheckAccount(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
