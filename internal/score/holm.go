package score

import (
	"cmp"
	"slices"
)

// Holm returns p-values adjusted for being several, in their order: each may be
// compared with the level that all of them together are to keep (S. Holm,
// Scandinavian Journal of Statistics 6, 1979). Undefined ones are no tests: they
// stay, and count for nothing.
func Holm(p []Figure) []Figure {
	var order []int
	for i, f := range p {
		if f.Defined {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a].Value, p[b].Value) })
	out := slices.Clone(p)
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, float64(len(order)-rank)*p[i].Value))
		out[i] = defined(least)
	}
	return out
}
