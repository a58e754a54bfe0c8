package compare

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/speechmanip/speechmanip/internal/score"
)

// Limit is how much of a metric may be lost.
type Limit struct {
	Metric  score.Metric
	Allowed float64 // from 0 to 1
}

// ParseLimit reads METRIC:DELTA, e.g. "recall:0.05".
func ParseLimit(s string) (Limit, error) {
	name, number, ok := strings.Cut(s, ":")
	if !ok {
		return Limit{}, fmt.Errorf("%q: use METRIC:DELTA, e.g. recall:0.05", s)
	}
	metric, err := score.ParseMetric(name)
	if err != nil {
		return Limit{}, err
	}
	allowed, err := strconv.ParseFloat(number, 64)
	if err != nil || !(allowed >= 0 && allowed < 1) { // so that NaN fails too
		return Limit{}, fmt.Errorf("%q: DELTA must be a number from 0 to below 1, e.g. 0.05", s)
	}
	return Limit{metric, allowed}, nil
}

// Check measures what the last evaluation lost against the first, adds it to Checks
// and returns it. It fails where there is too little to check: an evaluation that is
// not finished, or no dialogue of one truth.
func (c *Comparison) Check(l Limit) (score.Loss, error) {
	return c.CheckAt(l, score.LossConfidence)
}

// CheckAt is Check with another confidence than that of one check made once.
func (c *Comparison) CheckAt(l Limit, confidence float64) (score.Loss, error) {
	last := len(c.Evaluations) - 1
	for _, side := range []Side{c.Evaluations[0], c.Evaluations[last]} {
		if side.Pending > 0 {
			return score.Loss{}, fmt.Errorf("%s can't be checked: evaluation %s is not finished, %d of %d dialogues have no record yet", l.Metric, side.Evaluation, side.Pending, side.Items)
		}
	}
	loss := score.MeasureLoss(pairs(c.paired, 0, last), l.Metric, l.Allowed, confidence)
	if !loss.Lost.Defined {
		return loss, fmt.Errorf("%s can't be checked: %s", l.Metric, loss.Lost.Reason)
	}
	c.Checks = append(c.Checks, loss)
	return loss, nil
}
