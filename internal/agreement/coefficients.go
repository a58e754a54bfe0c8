package agreement

import "slices"

const (
	oneVoteEach = "no item has two votes or more"
	// sameVote: the chance-corrected coefficients divide by the disagreement that
	// is expected by chance, and there is none.
	sameVote = "all votes are the same: no disagreement is expected by chance"
)

// Krippendorff returns the nominal alpha with missing data (K. Krippendorff,
// Computing Krippendorff's Alpha-Reliability, 2011, part C). Items with fewer than
// two votes are left out.
func Krippendorff(rows []Row, b Bootstrap) Coefficient { return alpha(rows).compute(b) }

// An item's terms are its coincidences that disagree, and its votes by category.
func alpha(rows []Row) statistic {
	k := categories(rows)
	s := statistic{finish: finishAlpha, none: oneVoteEach}
	for _, r := range rows {
		n := float64(r.votes())
		if n < 2 {
			continue
		}
		counts := r.counts(k)
		s.terms = append(s.terms, append([]float64{(n*n - squares(counts)) / (n - 1)}, counts...))
	}
	return s
}

// finishAlpha is 1 - D_o/D_e, with D_o = disagreeing/n and
// D_e = (n^2 - sum of n_c^2)/(n(n-1)).
func finishAlpha(sums []float64, _ int) (float64, string) {
	disagreeing, counts := sums[0], sums[1:]
	n := sum(counts)
	expected := (n*n - squares(counts)) / (n - 1)
	if expected == 0 {
		return 0, sameVote
	}
	return 1 - disagreeing/expected, ""
}

// Fleiss returns Fleiss' kappa (J. L. Fleiss, Measuring nominal scale agreement
// among many raters, 1971) of the items that all annotators judged.
func Fleiss(rows []Row, annotators int, b Bootstrap) Coefficient {
	k := categories(rows)
	raters := float64(annotators)
	s := statistic{none: "no item has a vote of every annotator"}
	if annotators < 2 {
		s.none = "it needs two annotators or more"
		return s.compute(b)
	}
	// An item's terms are its share of agreeing pairs, and its votes by category.
	for _, r := range rows {
		if r.votes() == annotators {
			counts := r.counts(k)
			s.terms = append(s.terms, append([]float64{(squares(counts) - raters) / (raters * (raters - 1))}, counts...))
		}
	}
	s.finish = func(sums []float64, n int) (float64, string) {
		votes := float64(n) * raters
		return corrected(sums[0]/float64(n), squares(sums[1:])/(votes*votes))
	}
	return s.compute(b)
}

// Cohen returns Cohen's kappa (J. Cohen, A coefficient of agreement for nominal
// scales, 1960) of the columns i and j, on the items that both have judged.
func Cohen(rows []Row, i, j int, b Bootstrap) Coefficient {
	k := categories(rows)
	s := statistic{none: "no item has a vote of both"}
	// An item's terms are whether the two agree, and either one's category.
	for _, r := range rows {
		x, okX := r.vote(i)
		y, okY := r.vote(j)
		if !okX || !okY {
			continue
		}
		terms := make([]float64, 1+2*k)
		if x == y {
			terms[0] = 1
		}
		terms[1+int(x)]++
		terms[1+k+int(y)]++
		s.terms = append(s.terms, terms)
	}
	s.finish = func(sums []float64, n int) (float64, string) {
		expected := 0.0
		for c := range k {
			expected += sums[1+c] * sums[1+k+c]
		}
		return corrected(sums[0]/float64(n), expected/float64(n*n))
	}
	return s.compute(b)
}

// CohenOfTable returns Cohen's kappa of two judges on YES and NO, without an
// interval: the rows are what the first says, the columns what the second says.
func CohenOfTable(table [2][2]int) Coefficient {
	var rows []Row
	for first, row := range table {
		for second, n := range row {
			rows = append(rows, slices.Repeat([]Row{{Category(first), Category(second)}}, n)...)
		}
	}
	return Cohen(rows, 0, 1, Bootstrap{})
}

// corrected is the form of both kappas: the agreement observed beyond what chance
// would give. expected is exactly 1 when there is one category only: its numerator
// and its denominator are then the same whole number.
func corrected(observed, expected float64) (float64, string) {
	if expected == 1 {
		return 0, sameVote
	}
	return (observed - expected) / (1 - expected), ""
}

// Percent is the share of agreeing pairs among all pairs of votes on one item;
// chance is not taken out.
type Percent struct {
	Coefficient
	Agreeing, Pairs int
}

// PercentAgreement returns the percent agreement, as a share between 0 and 1. An
// item of n votes has n(n-1)/2 pairs, so much-judged items weigh more.
func PercentAgreement(rows []Row, b Bootstrap) Percent {
	k := categories(rows)
	s := statistic{none: oneVoteEach}
	var p Percent
	for _, r := range rows {
		n := r.votes()
		if n < 2 {
			continue
		}
		pairs := n * (n - 1) / 2
		agreeing := (int(squares(r.counts(k))) - n) / 2
		s.terms = append(s.terms, []float64{float64(agreeing), float64(pairs)})
		p.Agreeing += agreeing
		p.Pairs += pairs
	}
	s.finish = func(sums []float64, _ int) (float64, string) { return sums[0] / sums[1], "" }
	p.Coefficient = s.compute(b)
	return p
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

func squares(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v * v
	}
	return total
}
