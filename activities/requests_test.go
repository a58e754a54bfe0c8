package activities

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// counting is a store that counts what is asked of it.
type counting struct {
	objectstore.Store
	requests *atomic.Int32
}

func (c counting) Put(ctx context.Context, key string, body io.ReadSeeker, opts objectstore.PutOptions) (objectstore.Ref, error) {
	c.requests.Add(1)
	return c.Store.Put(ctx, key, body, opts)
}

func (c counting) Stat(ctx context.Context, key string) (objectstore.Ref, error) {
	c.requests.Add(1)
	return c.Store.Stat(ctx, key)
}

func (c counting) Open(ctx context.Context, ref objectstore.Ref) (io.ReadCloser, error) {
	c.requests.Add(1)
	return c.Store.Open(ctx, ref)
}

func (c counting) OpenRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	c.requests.Add(1)
	return c.Store.OpenRange(ctx, key, offset, length)
}

func (c counting) List(ctx context.Context, prefix string) iter.Seq2[objectstore.Entry, error] {
	c.requests.Add(1)
	return c.Store.List(ctx, prefix)
}

func (c counting) Delete(ctx context.Context, key string) error {
	c.requests.Add(1)
	return c.Store.Delete(ctx, key)
}

// Requests to the store are most of what a pass costs beside its call: look, claim
// (two), store, release; and what the item had prepared. That the item's dialogue was
// opened before costs no more.
func TestRequestsOfAPass(t *testing.T) {
	f := newFixture(t, nil)
	task := f.heard(t)
	requests := &atomic.Int32{}
	f.detection.Library.Archive.Store = counting{f.detection.Library.Archive.Store, requests}
	f.detection.Once.Store = counting{f.detection.Once.Store, requests}
	for row, want := range []int32{6, 2} { // found stored: look, read
		requests.Store(0)
		result := must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task, Index: 0})
		if got := requests.Load(); got != want || result.Made != (row == 0) {
			t.Errorf("time %d, made %v: %d requests, want %d", row+1, result.Made, got, want)
		}
	}
}
