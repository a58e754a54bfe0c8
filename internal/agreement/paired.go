package agreement

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Paired counts things that were judged under two conditions, as yes or no.
type Paired struct {
	Both, OnlyFirst, OnlySecond, Neither int
}

// Add counts one thing.
func (p *Paired) Add(first, second bool) {
	switch {
	case first && second:
		p.Both++
	case first:
		p.OnlyFirst++
	case second:
		p.OnlySecond++
	default:
		p.Neither++
	}
}

// N returns the number of things counted.
func (p Paired) N() int { return p.Both + p.OnlyFirst + p.OnlySecond + p.Neither }

// McNemar returns the two-sided exact p-value of McNemar's test (Q. McNemar,
// 1947): whether those that differ go one way more often than a fair coin would.
// Its Items are the things that differ. It takes the things as independent.
func (p Paired) McNemar() Coefficient {
	n := p.OnlyFirst + p.OnlySecond
	c := Coefficient{Items: n}
	switch {
	case p.N() == 0:
		c.Undefined = "nothing was judged under both conditions"
		return c
	case n == 0:
		c.Undefined = "nothing differs between the conditions"
		return c
	}
	fewer := float64(min(p.OnlyFirst, p.OnlySecond))
	c.Value = min(1, 2*distuv.Binomial{N: float64(n), P: 0.5}.CDF(fewer))
	return c
}

// AlphaDifference returns Krippendorff's alpha of first minus that of second,
// where row i of both is the same item. It is defined only when each item that
// counts has votes of the same annotators in both: otherwise the difference would
// be that of items or annotators too.
func AlphaDifference(first, second []Row, b Bootstrap) Coefficient {
	if reason := unlike(first, second); reason != "" {
		return Coefficient{Undefined: reason, Interval: Interval{None: reason}}
	}
	one, two := alpha(first), alpha(second)
	s := statistic{none: oneVoteEach}
	for i := range one.terms {
		s.terms = append(s.terms, slices.Concat(one.terms[i], two.terms[i]))
	}
	s.finish = func(sums []float64, n int) (float64, string) {
		width := len(one.terms[0])
		a, reason := one.finish(sums[:width], n)
		if reason != "" {
			return 0, "first: " + reason
		}
		b, reason := two.finish(sums[width:], n)
		if reason != "" {
			return 0, "second: " + reason
		}
		return a - b, ""
	}
	return s.compute(b)
}

// unlike says in what the items that count differ.
func unlike(first, second []Row) string {
	if len(first) != len(second) {
		return "the items are not the same"
	}
	items, annotators := 0, 0
	for i := range first {
		a, b := first[i].votes() > 1, second[i].votes() > 1
		switch {
		case a != b:
			items++
		case a && !sameColumns(first[i], second[i]):
			annotators++
		}
	}
	switch {
	case items > 0:
		return fmt.Sprintf("the items are not the same (with two votes or more under one condition only: %d)", items)
	case annotators > 0:
		return fmt.Sprintf("the annotators are not the same (on so many items: %d)", annotators)
	}
	return ""
}

func sameColumns(a, b Row) bool {
	for i := range max(len(a), len(b)) {
		_, inA := a.vote(i)
		_, inB := b.vote(i)
		if inA != inB {
			return false
		}
	}
	return true
}
