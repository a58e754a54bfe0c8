// Package schedule decides by a seed which calls of a simulated server go wrong,
// and how: the same seed breaks the same calls.
package schedule

import (
	"encoding/binary"
	"hash/fnv"
)

// Rate is how often a kind of fault happens, as a share of all calls from 0 to 1.
type Rate[K ~string] struct {
	Kind  K
	Share float64
}

// Schedule is a plan of faults. The kind "" is no fault. The zero value plans
// none.
type Schedule[K ~string] struct {
	Seed  uint64
	Rates []Rate[K] // together at most 1; what is left is no fault
	At    map[int]K // the nth call, from 0, whatever the rates say
}

// Even returns a schedule on which share of the calls, from 0 to 1, go wrong,
// each kind as often as the others.
func Even[K ~string](seed uint64, share float64, kinds ...K) Schedule[K] {
	s := Schedule[K]{Seed: seed}
	for _, kind := range kinds {
		s.Rates = append(s.Rates, Rate[K]{kind, share / float64(len(kinds))})
	}
	return s
}

// Nth returns the fault of the nth call, from 0. With calls at once it depends on
// which came first; Request does not.
func (s Schedule[K]) Nth(n int) K {
	if kind, ok := s.At[n]; ok {
		return kind
	}
	return s.pick("", n)
}

// Request returns the fault of a request's try, from 0, whenever it comes. At
// does not apply.
func (s Schedule[K]) Request(key string, try int) K { return s.pick(key, try) }

func (s Schedule[K]) pick(key string, n int) K {
	hash := fnv.New64a() // its Write doesn't fail
	var fixed [16]byte
	binary.LittleEndian.PutUint64(fixed[:], s.Seed)
	binary.LittleEndian.PutUint64(fixed[8:], uint64(n))
	_, _ = hash.Write(fixed[:])
	_, _ = hash.Write([]byte(key))
	share := float64(mix(hash.Sum64())>>11) / (1 << 53) // in [0, 1)
	for _, rate := range s.Rates {
		if share < rate.Share {
			return rate.Kind
		}
		share -= rate.Share
	}
	return ""
}

// mix spreads the differences of neighbouring hashes over all bits (the last step
// of splitmix64): FNV leaves them in the low ones.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
