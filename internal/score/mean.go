package score

import (
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

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
	mean, deviation := stat.MeanStdDev(values, nil)
	m.Value = defined(mean)
	if m.N == 1 {
		m.Low = undefined("one value has no spread")
		m.High = m.Low
		return m
	}
	half := t95(m.N-1) * stat.StdErr(deviation, float64(m.N))
	m.Low, m.High = defined(mean-half), defined(mean+half)
	return m
}

// t95 returns the t that Student's distribution with df degrees of freedom stays
// within, on both sides, with probability 0.95.
func t95(df int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(df)}.Quantile(0.975)
}
