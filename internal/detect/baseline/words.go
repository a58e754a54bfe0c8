package baseline

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// The vocabulary: words and pairs of adjacent words that occur in at least
// minDocuments training dialogues, the maxTerms of them that tell YES from NO
// best.
const (
	minDocuments = 2
	maxTerms     = 5_000
)

// feature is one non-zero entry of a vector.
type feature struct {
	index int
	value float64
}

// vocabulary turns words into unit vectors: sublinear term frequency times
// inverse document frequency, over the chosen terms only.
type vocabulary struct {
	terms []string // sorted
	idf   []float64
	index map[string]int
}

// newVocabulary builds the index; terms and idf are of equal length.
func newVocabulary(terms []string, idf []float64) vocabulary {
	v := vocabulary{terms: terms, idf: idf, index: make(map[string]int, len(terms))}
	for i, term := range terms {
		v.index[term] = i
	}
	return v
}

// occurrences yields every term of words with the position of its last word:
// the words of two letters or more, and each pair of neighbours among them. A
// word holds no space, so that a pair can't be taken for a word.
func occurrences(words []string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		previous := ""
		for i, word := range words {
			if len(word) < 2 {
				continue
			}
			if !yield(i, word) || previous != "" && !yield(i, previous+" "+word) {
				return
			}
			previous = word
		}
	}
}

// vector returns the unit vector of words, ordered by index; without a known
// term it is empty.
func (v vocabulary) vector(words []string) []feature {
	counts := map[int]int{}
	for _, term := range occurrences(words) {
		if at, ok := v.index[term]; ok {
			counts[at]++
		}
	}
	vector := make([]feature, 0, len(counts))
	for at, n := range counts {
		vector = append(vector, feature{at, (1 + math.Log(float64(n))) * v.idf[at]})
	}
	slices.SortFunc(vector, func(a, b feature) int { return cmp.Compare(a.index, b.index) })
	norm := 0.0
	for _, f := range vector {
		norm += f.value * f.value
	}
	norm = math.Sqrt(norm)
	for i := range vector {
		vector[i].value /= norm
	}
	return vector
}

// contributions returns what each word adds to the log-odds of the whole text:
// an equal share of a term's part for each of its occurrences, a pair's at its
// second word.
func (v vocabulary) contributions(words []string, weights []float64) []float64 {
	counts := map[int]float64{}
	for _, term := range occurrences(words) {
		if at, ok := v.index[term]; ok {
			counts[at]++
		}
	}
	share := map[int]float64{}
	for _, f := range v.vector(words) {
		share[f.index] = weights[f.index] * f.value / counts[f.index]
	}
	added := make([]float64, len(words))
	for i, term := range occurrences(words) {
		if at, ok := v.index[term]; ok {
			added[i] += share[at]
		}
	}
	return added
}

// learnVocabulary chooses the terms from the training documents and their truths.
func learnVocabulary(documents [][]string, yes []bool) vocabulary {
	frequency := map[string]int{}
	for _, words := range documents {
		seen := map[string]bool{}
		for _, term := range occurrences(words) {
			if !seen[term] {
				seen[term] = true
				frequency[term]++
			}
		}
	}
	var terms []string
	for term, n := range frequency {
		if n >= minDocuments {
			terms = append(terms, term)
		}
	}
	slices.Sort(terms)
	idf := make([]float64, len(terms))
	for i, term := range terms {
		idf[i] = round(math.Log(float64(1+len(documents))/float64(1+frequency[term])) + 1)
	}
	all := newVocabulary(terms, idf)
	if len(terms) <= maxTerms {
		return all
	}
	chosen := all.best(documents, yes)
	terms, idf = nil, nil
	for _, at := range chosen {
		terms, idf = append(terms, all.terms[at]), append(idf, all.idf[at])
	}
	return newVocabulary(terms, idf)
}

// best returns the indices of the maxTerms terms with the highest chi-squared
// statistic of weight against truth, in index order; ties go to the earlier term.
func (v vocabulary) best(documents [][]string, yes []bool) []int {
	sums := make([][2]float64, len(v.terms)) // weight in NO and YES dialogues
	count := [2]float64{}
	for i, words := range documents {
		class := 0
		if yes[i] {
			class = 1
		}
		count[class]++
		for _, f := range v.vector(words) {
			sums[f.index][class] += f.value
		}
	}
	chi := make([]float64, len(v.terms))
	order := make([]int, len(v.terms))
	for i, s := range sums {
		order[i] = i
		for class := range s {
			expected := (s[0] + s[1]) * count[class] / (count[0] + count[1])
			if expected > 0 {
				chi[i] += (s[class] - expected) * (s[class] - expected) / expected
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(chi[b], chi[a]) })
	order = order[:maxTerms]
	slices.Sort(order)
	return order
}

// round keeps six significant digits, so that a model's file is small and the
// model in memory is the one in the file.
func round(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
