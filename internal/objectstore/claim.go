package objectstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
)

// ErrClaimed says that somebody else holds a live claim; errors.As a
// *ClaimedError for who and until when.
var ErrClaimed = errors.New("claimed by another")

// ClaimedError names the holder of a live claim. It is no fault: what the
// caller wants may be in the store soon.
type ClaimedError struct {
	Key     string
	Owner   string
	Expires time.Time
}

// Error returns "key: claimed by owner until time".
func (e *ClaimedError) Error() string {
	return fmt.Sprintf("%q: claimed by %s until %s", e.Key, e.Owner, e.Expires.UTC().Format(time.RFC3339))
}

// Is reports that the error is an ErrClaimed.
func (e *ClaimedError) Is(target error) bool { return target == ErrClaimed }

// Claim is the exclusive right to make the object under Key until Expires.
type Claim struct {
	Key     string
	Owner   string
	Expires time.Time

	// First says that nobody has claimed the key before, so that nobody can have made
	// the object since the holder looked for it before Acquire: it needn't look again.
	First bool

	store      Store
	generation int
	nonce      string
}

// claimRecord is the body of a claim object.
type claimRecord struct {
	Owner    string    `json:"owner"`
	Nonce    string    `json:"nonce"` // no two attempts write the same bytes
	Expires  time.Time `json:"expires"`
	Released bool      `json:"released,omitempty"`
}

const (
	// ClaimPrefix is where claims lie. What is older than MaxClaim there may go.
	ClaimPrefix = "claims/"
	// MaxClaim is the longest lifetime of a claim.
	MaxClaim = 24 * time.Hour
	// maxClaimTries bounds the rounds lost to other claimers that come and go.
	maxClaimTries = 16
)

// Acquire claims the costly making of the object under key for owner, from now
// for lifetime. Use it so: look for the object; Acquire; look again unless it is the
// First claim, as the last holder may have just stored it; make and store it;
// Release.
//
// It returns a *ClaimedError (ErrClaimed) while another owner's claim is live.
// An expired or released claim is taken over, by exactly one of those who try.
// owner names the one thing that works on the key, such as an activity of a
// dialogue: a live claim of the same owner is taken over at once, since its
// earlier attempt is over, so that a killed worker's work needn't wait.
//
// A holder must stop before Expires: lifetime has to exceed the longest call
// made under the claim, and exceed by far the skew between the clocks of two
// holders, as now is the claimer's clock and Expires its holder's. It is at most
// MaxClaim.
//
// How it works, with nothing but If-None-Match (If-Match on a put is not
// honoured everywhere, and the port needs no ETags so): generation n of a claim is the object
// claims/<key>/<n>, written only if absent, and the newest generation is the
// claim. Taking over means writing the next one. Release overwrites one's own
// object instead of deleting it, so that the newest generation is never deleted
// by us and no number is won twice. Superseded generations are deleted; whoever
// was slow enough to write into such a gap sees a newer one when it looks again
// and has lost. So the first generation is written without a look: nearly every
// claim is a key's first, and listing what isn't there is slow on some servers. One
// small object a key stays behind; a lifecycle rule on ClaimPrefix may remove it
// once it is older than MaxClaim.
func Acquire(ctx context.Context, store Store, key, owner string, now time.Time, lifetime time.Duration) (Claim, error) {
	if owner == "" || lifetime <= 0 || lifetime > MaxClaim {
		return Claim{}, fault.Permanentf(fmt.Sprintf("claim %q", key), "bad_claim",
			"owner %q, lifetime %s: an owner and a lifetime of at most %s are needed", owner, lifetime, MaxClaim)
	}
	if err := CheckKey(claimKey(key, 1)); err != nil {
		return Claim{}, err
	}
	claim := Claim{Key: key, Owner: owner, Expires: now.Add(lifetime), store: store, nonce: rand.Text()}
	won, err := claim.take(ctx, 1)
	if err != nil {
		return Claim{}, err
	}
	if claim.First = won; won {
		return claim, nil
	}
	for range maxClaimTries {
		won, err := claim.try(ctx, now)
		if err != nil {
			return Claim{}, err
		}
		if won {
			return claim, nil
		}
	}
	return Claim{}, fmt.Errorf("claim %q: lost to others %d times in a row", key, maxClaimTries)
}

// try makes one attempt at the generation after the newest; false means that
// another claimer came between.
func (c *Claim) try(ctx context.Context, now time.Time) (bool, error) {
	seen, err := generations(ctx, c.store, c.Key)
	if err != nil {
		return false, err
	}
	newest := 0
	if len(seen) > 0 {
		newest = seen[len(seen)-1]
		held, err := GetJSON[claimRecord](ctx, c.store, Ref{Key: claimKey(c.Key, newest)})
		switch {
		case errors.Is(err, ErrNotFound): // superseded since it was listed
			return false, nil
		case err != nil:
			return false, err
		case held.Owner != c.Owner && !held.Released && now.Before(held.Expires):
			return false, &ClaimedError{Key: c.Key, Owner: held.Owner, Expires: held.Expires}
		}
	}
	return c.take(ctx, newest+1)
}

// take writes a generation; false means that others have written it or a newer one.
func (c *Claim) take(ctx context.Context, generation int) (bool, error) {
	c.generation = generation
	switch err := c.write(ctx, false, PutOptions{IfAbsent: true}); {
	case errors.Is(err, ErrExists):
		return false, nil
	case err != nil:
		return false, err
	}
	seen, err := generations(ctx, c.store, c.Key)
	if err != nil {
		return false, err
	}
	if len(seen) == 0 || seen[len(seen)-1] != c.generation {
		return false, nil
	}
	for _, old := range seen[:len(seen)-1] {
		// What fails to go now costs a few bytes; the next winner tries again.
		_ = c.store.Delete(ctx, claimKey(c.Key, old))
	}
	return true, nil
}

// Release gives the claim back, so that the next claimer needn't wait for its
// expiry. Releasing a claim that others have taken over since changes nothing
// for them. Call it with a context that outlives the work's.
func (c Claim) Release(ctx context.Context) error {
	return c.write(ctx, true, PutOptions{})
}

func (c Claim) write(ctx context.Context, released bool, opts PutOptions) error {
	_, err := PutJSON(ctx, c.store, claimKey(c.Key, c.generation), claimRecord{
		Owner:    c.Owner,
		Nonce:    c.nonce,
		Expires:  c.Expires.UTC(),
		Released: released,
	}, opts)
	return err
}

// claimKey pads the generation so that key order is number order.
func claimKey(key string, generation int) string {
	return fmt.Sprintf("%s%s/%010d", ClaimPrefix, key, generation)
}

// generations lists a claim's generations, the newest last.
func generations(ctx context.Context, store Store, key string) ([]int, error) {
	prefix := ClaimPrefix + key + "/"
	var found []int
	for entry, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("claim %q: %w", key, err)
		}
		n, err := strconv.Atoi(strings.TrimPrefix(entry.Key, prefix))
		if err != nil {
			continue // the claim of a longer key
		}
		found = append(found, n)
	}
	return found, nil
}
