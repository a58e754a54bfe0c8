package objectstore_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
)

// slowStore runs meanwhile before its first put: what others do between a
// claimer's look and its write.
type slowStore struct {
	objectstore.Store
	meanwhile func()
}

func (s *slowStore) Put(ctx context.Context, key string, body io.ReadSeeker, opts objectstore.PutOptions) (objectstore.Ref, error) {
	if run := s.meanwhile; run != nil {
		s.meanwhile = nil
		run()
	}
	return s.Store.Put(ctx, key, body, opts)
}

const lifetime = time.Minute

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// raced has slow claim "k" while meanwhile runs between its look and its write,
// and returns slow's result and the claim objects that are left.
func raced(t *testing.T, owner string, meanwhile func(objectstore.Store)) (left []string, err error) {
	t.Helper()
	store := mem.New()
	_, err = objectstore.Acquire(t.Context(), &slowStore{store, func() { meanwhile(store) }}, "k", owner, now, lifetime)
	for entry, err := range store.List(t.Context(), objectstore.ClaimPrefix) {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, strings.TrimPrefix(entry.Key, "claims/k/"))
	}
	return left, err
}

func acquire(t *testing.T, store objectstore.Store, owner string) objectstore.Claim {
	t.Helper()
	claim, err := objectstore.Acquire(t.Context(), store, "k", owner, now, lifetime)
	if err != nil {
		t.Fatalf("%s claims: %v", owner, err)
	}
	return claim
}

func heldBy(t *testing.T, err error, owner string) {
	t.Helper()
	var held *objectstore.ClaimedError
	if !errors.As(err, &held) || held.Owner != owner {
		t.Errorf("got %v, want that %s holds it", err, owner)
	}
}

// Both saw the key unclaimed: the second to write loses.
func TestSecondWriterLoses(t *testing.T) {
	_, err := raced(t, "slow", func(store objectstore.Store) { acquire(t, store, "quick") })
	heldBy(t, err, "quick")
}

// A claimer so slow that the generation it writes was made and superseded in the
// meantime must not win: it finds the number free, but a newer one beside it.
func TestWriterIntoGapLoses(t *testing.T) {
	_, err := raced(t, "slow", func(store objectstore.Store) {
		first := acquire(t, store, "first")
		if err := first.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		acquire(t, store, "second")
	})
	heldBy(t, err, "second")
}

// Two attempts of one owner at one moment don't share a generation: the later
// one supersedes.
func TestAttemptsOfOneOwner(t *testing.T) {
	left, err := raced(t, "same", func(store objectstore.Store) { acquire(t, store, "same") })
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"0000000002"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

// Only who finds a key that was never claimed needn't look for its object again.
func TestFirstClaim(t *testing.T) {
	store := mem.New()
	first := acquire(t, store, "a")
	if !first.First {
		t.Error("a key's first claim doesn't say so")
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, owner := range []string{"b", "b"} { // the second time beside the superseded first
		if later := acquire(t, store, owner); later.First {
			t.Error("a later claim says that it is the first")
		}
	}
}
