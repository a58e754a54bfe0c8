// Package recent keeps the last few values that were used, by key.
package recent

import (
	"slices"
	"sync"
)

// Cache keeps values up to a total weight. The zero Cache is empty. It is safe for
// concurrent use; the values are shared, so nobody may change them.
type Cache[T any] struct {
	mu     sync.Mutex
	values map[string]entry[T]
	order  []string // of use, the last one last
	weight int
}

type entry[T any] struct {
	value  T
	weight int
}

// Get returns a value that is kept.
func (c *Cache[T]) Get(key string) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.values[key]
	if ok {
		c.drop(key)
		c.order = append(c.order, key)
	}
	return found.value, ok
}

// Put keeps a value and, of those before it, the last used ones whose weights are at
// most limit together with its own. One that is heavier itself is not kept.
func (c *Cache[T]) Put(key string, value T, weight, limit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if weight > limit {
		return
	}
	if c.values == nil {
		c.values = map[string]entry[T]{}
	}
	if old, ok := c.values[key]; ok {
		c.weight -= old.weight
		c.drop(key)
	}
	c.values[key] = entry[T]{value, weight}
	c.order = append(c.order, key)
	for c.weight += weight; c.weight > limit; {
		oldest := c.order[0]
		c.weight -= c.values[oldest].weight
		delete(c.values, oldest)
		c.drop(oldest)
	}
}

// drop takes a key out of the order. The caller holds c.mu.
func (c *Cache[T]) drop(key string) {
	if i := slices.Index(c.order, key); i >= 0 {
		c.order = slices.Delete(c.order, i, i+1)
	}
}
