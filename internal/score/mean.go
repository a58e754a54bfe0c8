package score

import "math"

// Mean is the mean of n values with its 95% interval by Student's t. Of the
// differences of paired values it is the paired interval.
type Mean struct {
	N     int    `json:"n"`
	Value Figure `json:"value"`
	Low   Figure `json:"low"`
	High  Figure `json:"high"`
}

// MeanOf returns the mean of values, undefined when there are none, with its
// interval, undefined for fewer than two.
func MeanOf(values []float64) Mean {
	m := Mean{N: len(values)}
	if m.N == 0 {
		m.Value = undefined("no values")
		m.Low, m.High = m.Value, m.Value
		return m
	}
	n := float64(m.N)
	var sum, squares float64
	for _, v := range values {
		sum += v
	}
	mean := sum / n
	m.Value = defined(mean)
	if m.N == 1 {
		m.Low = undefined("one value has no spread")
		m.High = m.Low
		return m
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	half := t95(m.N-1) * math.Sqrt(squares/(n-1)/n)
	m.Low, m.High = defined(mean-half), defined(mean+half)
	return m
}

// t95 returns the t that Student's distribution with df degrees of freedom stays
// within, on both sides, with probability 0.95.
func t95(df int) float64 {
	low, high := 0.0, math.Pi/2
	for range 60 { // halvings: beyond what a float64 tells apart
		middle := (low + high) / 2
		if withinT(middle, df) < 0.95 {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(float64(df)) * math.Tan(low)
}

// withinT returns the probability that |t| < sqrt(df) tan(angle), by the finite
// series of M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions,
// 1964, 26.7.3 (odd df) and 26.7.4 (even df).
func withinT(angle float64, df int) float64 {
	sin, cos := math.Sincos(angle)
	odd := df%2 == 1
	term := 1.0
	if odd {
		term = cos
	}
	sum := 0.0
	for k := df%2 + 2; k <= df; k += 2 {
		sum += term
		term *= cos * cos * float64(k-1) / float64(k)
	}
	if odd {
		return 2 / math.Pi * (angle + sin*sum)
	}
	return sin * sum
}
