// Package mem keeps objects in memory, for unit tests.
package mem

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Store is an objectstore.Store in memory. Use New.
type Store struct {
	Now func() time.Time // the clock of modification times; set it before the first use

	mu      sync.Mutex
	objects map[string]object
}

type object struct {
	ref      objectstore.Ref
	data     []byte // never changed once stored
	modified time.Time
}

var _ objectstore.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store { return &Store{Now: time.Now, objects: map[string]object{}} }

// Put keeps a copy of body.
func (s *Store) Put(ctx context.Context, key string, body io.ReadSeeker, opts objectstore.PutOptions) (objectstore.Ref, error) {
	if err := usable(ctx, key); err != nil {
		return objectstore.Ref{}, err
	}
	ref, err := objectstore.Measure(key, body)
	if err != nil {
		return objectstore.Ref{}, err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return objectstore.Ref{}, fmt.Errorf("object %q: read the body: %w", key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, found := s.objects[key]; found && opts.IfAbsent {
		if old.ref != ref {
			return objectstore.Ref{}, objectstore.Exists(key)
		}
		return ref, nil
	}
	s.objects[key] = object{ref: ref, data: data, modified: s.Now()}
	return ref, nil
}

// Open reads an object, checked at its end.
func (s *Store) Open(ctx context.Context, ref objectstore.Ref) (io.ReadCloser, error) {
	found, err := s.get(ctx, ref.Key)
	if err != nil {
		return nil, err
	}
	ref.SHA256 = cmp.Or(ref.SHA256, found.ref.SHA256)
	return objectstore.Verify(io.NopCloser(bytes.NewReader(found.data)), ref), nil
}

// OpenRange reads a part of an object.
func (s *Store) OpenRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := objectstore.CheckRange(key, offset, length); err != nil {
		return nil, err
	}
	found, err := s.get(ctx, key)
	if err != nil {
		return nil, err
	}
	if offset >= found.ref.Size {
		return nil, objectstore.OutOfRange(key, offset, length)
	}
	return io.NopCloser(io.NewSectionReader(bytes.NewReader(found.data), offset, length)), nil
}

// Stat returns the ref of a key.
func (s *Store) Stat(ctx context.Context, key string) (objectstore.Ref, error) {
	found, err := s.get(ctx, key)
	return found.ref, err
}

// List yields the entries that were there when the iteration began.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[objectstore.Entry, error] {
	return func(yield func(objectstore.Entry, error) bool) {
		for _, entry := range s.entries(prefix) {
			if err := ctx.Err(); err != nil {
				yield(objectstore.Entry{}, err)
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

func (s *Store) entries(prefix string) []objectstore.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []objectstore.Entry
	for key, o := range s.objects {
		if strings.HasPrefix(key, prefix) {
			found = append(found, objectstore.Entry{Key: key, Size: o.ref.Size, Modified: o.modified})
		}
	}
	slices.SortFunc(found, func(a, b objectstore.Entry) int { return cmp.Compare(a.Key, b.Key) })
	return found
}

// Delete removes a key.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := usable(ctx, key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, key)
	return nil
}

// Damage changes the bytes under key and leaves their hash, as a failing disk does.
// It reports whether there is anything under key.
func (s *Store) Damage(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, found := s.objects[key]
	if found {
		o.data = append(bytes.Clone(o.data), '!')
		s.objects[key] = o
	}
	return found
}

// Presign always fails with errors.ErrUnsupported: memory has no links.
func (s *Store) Presign(_ context.Context, key string, _ time.Duration) (string, error) {
	return "", fault.Permanentf(fmt.Sprintf("link to object %q", key), "unsupported",
		"a store in memory has no links: %w", errors.ErrUnsupported)
}

func (s *Store) get(ctx context.Context, key string) (object, error) {
	if err := usable(ctx, key); err != nil {
		return object{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.objects[key]
	if !ok {
		return object{}, objectstore.NotFound(key)
	}
	return found, nil
}

func usable(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return objectstore.CheckKey(key)
}
