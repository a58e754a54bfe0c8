package recognize

import "fmt"

// ErrorRate is the word error rate of a hypothesis with the counts behind it.
type ErrorRate struct {
	Words         int     `json:"words"` // of the reference
	Substitutions int     `json:"substitutions"`
	Deletions     int     `json:"deletions"`
	Insertions    int     `json:"insertions"`
	Rate          float64 `json:"rate"`    // errors per reference word; may exceed 1; 0 when not Defined
	Defined       bool    `json:"defined"` // false for a reference without words
}

// Errors returns the number of word errors.
func (e ErrorRate) Errors() int { return e.Substitutions + e.Deletions + e.Insertions }

// String returns e.g. "0.250 (5 of 20 words)", or "undefined (no reference words)".
func (e ErrorRate) String() string {
	if !e.Defined {
		return "undefined (no reference words)"
	}
	return fmt.Sprintf("%.3f (%d of %d words)", e.Rate, e.Errors(), e.Words)
}

// WER compares the words that were recognised with the words that were said,
// both as dialogue.Words splits them. Among alignments with equally few errors
// it counts the one with the most substitutions.
func WER(reference, hypothesis []string) ErrorRate {
	row := make([]ErrorRate, len(hypothesis)+1)
	for j := range row {
		row[j].Insertions = j
	}
	for i, said := range reference {
		diagonal := row[0]
		row[0].Deletions = i + 1
		for j, heard := range hypothesis {
			above := row[j+1]
			best := diagonal
			if said != heard {
				best.Substitutions++
			}
			if above.Errors()+1 < best.Errors() {
				best = above
				best.Deletions++
			}
			if left := row[j]; left.Errors()+1 < best.Errors() {
				best = left
				best.Insertions++
			}
			diagonal, row[j+1] = above, best
		}
	}
	result := row[len(hypothesis)]
	if result.Words = len(reference); result.Words > 0 {
		result.Rate, result.Defined = float64(result.Errors())/float64(result.Words), true
	}
	return result
}
