package recent_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/speechmanip/speechmanip/internal/recent"
)

const limit = 10

// kept says which of the keys a cache has.
func kept(c *recent.Cache[int], keys string) string {
	out := ""
	for _, key := range keys {
		if _, ok := c.Get(string(key)); ok {
			out += string(key)
		}
	}
	return out
}

func TestKeepsWhatWasUsedLast(t *testing.T) {
	var c recent.Cache[int]
	if got := kept(&c, "a"); got != "" {
		t.Errorf("an empty cache has %q", got)
	}
	c.Put("a", 1, 4, limit)
	c.Put("b", 2, 4, limit)
	if v, ok := c.Get("a"); !ok || v != 1 {
		t.Errorf("a is %d, %v", v, ok)
	}
	c.Put("c", 3, 4, limit) // b was used before a
	if got := kept(&c, "abc"); got != "ac" {
		t.Errorf("kept %q, want a and c", got)
	}
	c.Put("d", 4, limit, limit)
	if got := kept(&c, "abcd"); got != "d" {
		t.Errorf("kept %q, want d alone", got)
	}
}

func TestWhatIsTooHeavyIsNotKept(t *testing.T) {
	var c recent.Cache[int]
	c.Put("a", 1, 1, limit)
	c.Put("b", 2, limit+1, limit)
	if got := kept(&c, "ab"); got != "a" {
		t.Errorf("kept %q, want a", got)
	}
}

func TestReplaces(t *testing.T) {
	var c recent.Cache[int]
	for n := range 5 {
		c.Put("a", n, 6, limit) // counted once
	}
	c.Put("b", 9, 4, limit)
	if v, _ := c.Get("a"); v != 4 || kept(&c, "ab") != "ab" {
		t.Errorf("a is %d, kept %q", v, kept(&c, "ab"))
	}
}

func TestTogether(t *testing.T) {
	var c recent.Cache[int]
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for n := range 200 {
				key := fmt.Sprint((worker + n) % 12)
				if v, ok := c.Get(key); ok && fmt.Sprint(v) != key {
					t.Errorf("%s is %d", key, v)
				}
				c.Put(key, (worker+n)%12, 1, limit)
			}
		})
	}
	all.Wait()
}
