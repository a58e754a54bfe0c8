package objectstoretest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

const (
	claimKey = "turns/ab.wav"
	lifetime = 10 * time.Minute
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func testClaimHeld(t *testing.T, store objectstore.Store) {
	acquire(t, store, claimKey, "a", noon)
	_, err := objectstore.Acquire(t.Context(), store, claimKey, "b", noon.Add(lifetime-time.Second), lifetime)
	var held *objectstore.ClaimedError
	if !errors.As(err, &held) || !errors.Is(err, objectstore.ErrClaimed) {
		t.Fatalf("got %v, want a ClaimedError", err)
	}
	if held.Key != claimKey || held.Owner != "a" || !held.Expires.Equal(noon.Add(lifetime)) {
		t.Errorf("got %+v", held)
	}
	acquire(t, store, claimKey, "a", noon) // its owner's next attempt needn't wait
	acquire(t, store, "turns/other.wav", "b", noon)
	acquire(t, store, claimKey+"/0000000009", "b", noon) // a longer key is another claim
	if _, err := objectstore.Acquire(t.Context(), store, claimKey, "b", noon, lifetime); !errors.Is(err, objectstore.ErrClaimed) {
		t.Errorf("after the owner's next attempt: %v", err)
	}
}

func testClaimReleased(t *testing.T, store objectstore.Store) {
	a := acquire(t, store, claimKey, "a", noon)
	release(t, a)
	release(t, a)
	b := acquire(t, store, claimKey, "b", noon)
	release(t, a) // late: b's claim stays
	if _, err := objectstore.Acquire(t.Context(), store, claimKey, "c", noon, lifetime); !errors.Is(err, objectstore.ErrClaimed) {
		t.Errorf("after a late release: %v", err)
	}
	release(t, b)
	acquire(t, store, claimKey, "c", noon)
	if left := keys(t, store, objectstore.ClaimPrefix); len(left) != 1 {
		t.Errorf("superseded claims stay: %q", left)
	}
}

func testClaimExpires(t *testing.T, store objectstore.Store) {
	a := acquire(t, store, claimKey, "a", noon)
	later := noon.Add(lifetime)
	acquire(t, store, claimKey, "b", later)
	release(t, a) // the killed holder comes back to life: b's claim stays
	if _, err := objectstore.Acquire(t.Context(), store, claimKey, "a", later, lifetime); !errors.Is(err, objectstore.ErrClaimed) {
		t.Errorf("after the first holder's release: %v", err)
	}
}

func testClaimRace(t *testing.T, store objectstore.Store) {
	for round := range 5 {
		errs := together(16, func(i int) error {
			_, err := objectstore.Acquire(t.Context(), store, fmt.Sprintf("race/%d", round), fmt.Sprint(i), noon, lifetime)
			return err
		})
		onlyWinner(t, errs, objectstore.ErrClaimed)
	}
}

func testClaimTakeoverRace(t *testing.T, store objectstore.Store) {
	for round := range 5 {
		key := fmt.Sprintf("race/%d", round)
		acquire(t, store, key, "killed", noon)
		errs := together(16, func(i int) error {
			_, err := objectstore.Acquire(t.Context(), store, key, fmt.Sprint(i), noon.Add(lifetime), lifetime)
			return err
		})
		onlyWinner(t, errs, objectstore.ErrClaimed)
	}
}

// testClaimNeverShared has claimers come and go on one key and counts who
// is inside.
func testClaimNeverShared(t *testing.T, store objectstore.Store) {
	var inside, entered atomic.Int32
	errs := together(8, func(i int) error {
		for range 20 {
			claim, err := objectstore.Acquire(t.Context(), store, claimKey, fmt.Sprint(i), noon, lifetime)
			if errors.Is(err, objectstore.ErrClaimed) {
				continue
			}
			if err != nil {
				return err
			}
			if n := inside.Add(1); n != 1 {
				return fmt.Errorf("%d holders at once", n)
			}
			entered.Add(1)
			inside.Add(-1)
			if err := claim.Release(t.Context()); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if entered.Load() == 0 {
		t.Error("nobody ever held the claim")
	}
}

func testClaimRefused(t *testing.T, store objectstore.Store) {
	for name, err := range map[string]error{
		"no owner":    acquireErr(t.Context(), store, claimKey, "", lifetime),
		"no lifetime": acquireErr(t.Context(), store, claimKey, "a", 0),
		"too long":    acquireErr(t.Context(), store, claimKey, "a", objectstore.MaxClaim+1),
		"bad key":     acquireErr(t.Context(), store, "../a", "a", lifetime),
	} {
		if fault.KindOf(err) != fault.Permanent {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func acquireErr(ctx context.Context, store objectstore.Store, key, owner string, lifetime time.Duration) error {
	_, err := objectstore.Acquire(ctx, store, key, owner, noon, lifetime)
	return err
}

func acquire(t *testing.T, store objectstore.Store, key, owner string, now time.Time) objectstore.Claim {
	t.Helper()
	claim, err := objectstore.Acquire(t.Context(), store, key, owner, now, lifetime)
	if err != nil {
		t.Fatalf("%s claims %q: %v", owner, key, err)
	}
	return claim
}

func release(t *testing.T, claim objectstore.Claim) {
	t.Helper()
	if err := claim.Release(t.Context()); err != nil {
		t.Fatalf("%s releases %q: %v", claim.Owner, claim.Key, err)
	}
}
