package objectstoretest

import (
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// put stores text; it may be called from any goroutine of a test.
func put(t *testing.T, store objectstore.Store, key, text string) objectstore.Ref {
	t.Helper()
	ref, err := objectstore.PutBytes(t.Context(), store, key, []byte(text), objectstore.PutOptions{})
	if err != nil {
		t.Errorf("put %q: %v", key, err)
	}
	return ref
}

func read(t *testing.T, store objectstore.Store, ref objectstore.Ref) string {
	t.Helper()
	body, err := store.Open(t.Context(), ref)
	if err != nil {
		t.Errorf("open %q: %v", ref.Key, err)
		return ""
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Errorf("read %q: %v", ref.Key, err)
	}
	return string(data)
}

func keys(t *testing.T, store objectstore.Store, prefix string) []string {
	t.Helper()
	var found []string
	for entry, err := range store.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("list %q: %v", prefix, err)
		}
		found = append(found, entry.Key)
	}
	return found
}

// together starts n calls at once and returns their errors.
func together(n int, call func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	wait.Wait()
	return errs
}

// onlyWinner checks that one call succeeded and all others lost as expected,
// and returns its index.
func onlyWinner(t *testing.T, errs []error, lost error) int {
	t.Helper()
	winner, winners := -1, 0
	for i, err := range errs {
		switch {
		case err == nil:
			winner, winners = i, winners+1
		case !errors.Is(err, lost):
			t.Errorf("caller %d: %v", i, err)
		}
	}
	if winners != 1 {
		t.Fatalf("%d winners, want 1", winners)
	}
	return winner
}
