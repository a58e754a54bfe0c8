package evaluation

import (
	"fmt"
	"time"
)

// The limiter holds the one ceiling on calls at once of a provider's account.
// Workers lease slots of it, by Update.
const (
	UpdateLease = "lease" // to the limiter: Lease in, Slots out
	QuerySlots  = "slots" // of the limiter: LimiterStatus
)

// LimiterWorkflowID is the workflow id of an account's limiter.
func LimiterWorkflowID(account string) string { return "limiter/" + account }

// CheckAccount refuses an account's name that can't be part of a workflow id.
func CheckAccount(name string) error {
	if !idPattern.MatchString(name) {
		return fmt.Errorf("account %q: use 1 to 63 lower-case letters, digits, '.', '_' or '-', beginning with a letter or digit", name)
	}
	return nil
}

// How long a lease lasts. A worker that is killed keeps its slots for so long.
const (
	LeaseExpiry    = 30 * time.Second // the default
	MinLeaseExpiry = 10 * time.Second
	MaxLeaseExpiry = time.Minute
)

// LeaseRenewal is how often a lease is renewed: a few times a minute, and often
// enough that one lost renewal costs nothing.
func LeaseRenewal(expiry time.Duration) time.Duration { return expiry / 3 }

// LeasedCall is the longest that a call under a lease may take. A call begins
// only while the lease has as much left, so that it has ended when the lease runs
// out and another worker has its slot. It is shorter than what is left when the
// lease is about to be renewed, so that no call waits for a renewal.
func LeasedCall(expiry time.Duration) time.Duration { return expiry * 3 / 5 }

// CheckLeaseExpiry refuses an expiry under which slots come back too late, or
// leases are renewed more than a few times a minute.
func CheckLeaseExpiry(expiry time.Duration) error {
	if expiry < MinLeaseExpiry || expiry > MaxLeaseExpiry {
		return fmt.Errorf("a lease of %s: use %s to %s", expiry, MinLeaseExpiry, MaxLeaseExpiry)
	}
	return nil
}

// UntoldSlots is the ceiling where neither configuration nor provider names one:
// what the smallest plans allow.
const UntoldSlots = 2

// maxWant is more than any account allows.
const maxWant = 1000

// Lease is what a worker asks of the limiter: slots, for Expiry from now.
type Lease struct {
	Worker string        `json:"worker"` // the same in all its asks, and no other's
	Seq    int           `json:"seq"`    // grows with each ask, so that one that comes late is known
	Want   int           `json:"want"`   // the most slots that it can use; 0 gives all back
	Held   int           `json:"held"`   // the most calls that it may have in flight until it is answered
	Expiry time.Duration `json:"expiry"`

	Bound     int  `json:"bound,omitempty"`     // the configured ceiling; 0 is none
	Told      int  `json:"told,omitempty"`      // the ceiling that the provider has told since the last ask; 0 is none
	Congested bool `json:"congested,omitempty"` // the provider has refused a call for too many at once since the last ask
}

// Check refuses an ask that makes no sense.
func (l Lease) Check() error {
	switch {
	case l.Worker == "":
		return fmt.Errorf("lease slots: the worker has no name")
	case l.Want < 0 || l.Held < 0 || l.Bound < 0 || l.Told < 0:
		return fmt.Errorf("lease slots: a number is negative: %+v", l)
	case l.Want > maxWant || l.Held > maxWant:
		return fmt.Errorf("lease slots: more than %d wanted or held: %+v", maxWant, l)
	}
	return CheckLeaseExpiry(l.Expiry)
}

// Slots is what a worker got: how many calls it may have in flight at once, out
// of how many.
type Slots struct {
	Slots   int `json:"slots"`
	Ceiling int `json:"ceiling"`
}

// LimiterStatus says what a limiter has lent.
type LimiterStatus struct {
	Ceiling int            `json:"ceiling"`
	Told    int            `json:"told,omitempty"` // by the provider; 0 is nothing
	Slots   map[string]int `json:"slots"`          // reserved, by worker
}
