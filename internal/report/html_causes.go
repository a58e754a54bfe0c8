package report

import (
	"cmp"
	"maps"
	"slices"
)

// cause is what failures have in common.
type cause struct {
	Code    string
	Count   int
	Example Failure
}

// causes returns the most frequent first, equals by name.
func causes(failures []Failure) []cause {
	counts := map[string]cause{}
	for _, f := range failures {
		c, known := counts[f.Code]
		if !known {
			c = cause{Code: f.Code, Example: f}
		}
		c.Count++
		counts[f.Code] = c
	}
	return slices.SortedFunc(maps.Values(counts), func(a, b cause) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
}
