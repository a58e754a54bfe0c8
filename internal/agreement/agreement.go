// Package agreement measures how far annotators agree, on plain numbers:
// Krippendorff's alpha, Fleiss' and Cohen's kappa, percent agreement, each with
// the items it rests on, and the exact test of paired answers.
package agreement

// Category is what an annotator chose, numbered from 0; a negative one is no vote.
type Category int8

// Missing is the cell of an annotator who has not judged the item.
const Missing Category = -1

// Row is one item's votes: a column an annotator, the same in every row.
type Row []Category

// vote returns column i's vote, and whether there is one.
func (r Row) vote(i int) (Category, bool) {
	if i < 0 || i >= len(r) || r[i] < 0 {
		return Missing, false
	}
	return r[i], true
}

// votes returns how many votes the row has.
func (r Row) votes() int {
	n := 0
	for i := range r {
		if _, ok := r.vote(i); ok {
			n++
		}
	}
	return n
}

// counts returns how often the row's votes name each of k categories.
func (r Row) counts(k int) []float64 {
	counts := make([]float64, k)
	for i := range r {
		if c, ok := r.vote(i); ok {
			counts[c]++
		}
	}
	return counts
}

// categories returns the number of categories: the highest one in use, plus one.
func categories(rows []Row) int {
	highest := Missing
	for _, r := range rows {
		for _, c := range r {
			highest = max(highest, c)
		}
	}
	return int(highest) + 1
}

// Coefficient is a measure of agreement and what it rests on. Value has no
// meaning when Undefined says why there is none; it is never NaN.
type Coefficient struct {
	Value     float64
	Undefined string // the reason; empty when Value is defined
	Items     int    // items that the value was computed from
	Interval  Interval
}

// Defined reports whether the coefficient has a value.
func (c Coefficient) Defined() bool { return c.Undefined == "" }

// statistic is a coefficient taken apart, so that items can be resampled without
// being counted anew: each item adds its terms to the sums, and finish turns sums
// over n items into the value, or says why there is none.
type statistic struct {
	terms  [][]float64
	finish func(sums []float64, n int) (float64, string)
	none   string // the reason when there are no items
}

// compute returns the coefficient and its interval.
func (s statistic) compute(b Bootstrap) Coefficient {
	c := Coefficient{Items: len(s.terms)}
	if c.Items == 0 {
		c.Undefined = s.none
		c.Interval.None = "the coefficient is undefined"
		return c
	}
	sums := make([]float64, len(s.terms[0]))
	for _, terms := range s.terms {
		add(sums, terms)
	}
	c.Value, c.Undefined = s.finish(sums, c.Items)
	if !c.Defined() {
		c.Value = 0
		c.Interval.None = "the coefficient is undefined"
		return c
	}
	c.Interval = b.interval(s)
	return c
}

func add(sums, terms []float64) {
	for i, term := range terms {
		sums[i] += term
	}
}
