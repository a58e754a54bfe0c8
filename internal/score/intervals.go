package score

// How intervals were made.
const (
	MethodWilson    = "wilson"    // every dialogue stands once
	MethodBootstrap = "bootstrap" // over dialogues, as some stand several times
)

// Intervals are the decided items' shares that were right, with their intervals:
// of all, of truth YES and of truth NO; and the mean of the last two.
type Intervals struct {
	Method           string   `json:"method"`
	Accuracy         Rate     `json:"accuracy"`
	Recall           Rate     `json:"recall"`
	Specificity      Rate     `json:"specificity"`
	BalancedAccuracy Interval `json:"balanced_accuracy"`
}

// Interval is a figure of n items that is no share of them, with its 95% interval.
type Interval struct {
	N     int    `json:"n"`
	Value Figure `json:"value"`
	Low   Figure `json:"low"`
	High  Figure `json:"high"`
}

// wilsonIntervals are those of items that are dialogues of their own.
func wilsonIntervals(c Confusion) Intervals {
	decided := c.Yes.Decided() + c.No.Decided()
	out := Intervals{
		Method:           MethodWilson,
		Accuracy:         Wilson(c.Yes.Yes+c.No.No, decided),
		Recall:           Wilson(c.Yes.Yes, c.Yes.Decided()),
		Specificity:      Wilson(c.No.No, c.No.Decided()),
		BalancedAccuracy: Interval{N: decided},
	}
	b := &out.BalancedAccuracy
	b.Value, b.Low, b.High = BalancedAccuracy(c)
	return out
}

// intervalsOf are those of the items' confusion.
func intervalsOf(items []Item, c Confusion) Intervals {
	out := wilsonIntervals(c)
	s := sampleDecided(items)
	if !s.repeated() {
		return out
	}
	confusion := confusionOf(s)
	e := Resample(s.strata(), DefaultBootstrap(), func(weights []int) []Figure {
		m := measure(confusion(weights))
		return []Figure{m.Accuracy, m.Yes.Recall, m.No.Recall, m.BalancedAccuracy}
	})
	out.Method = MethodBootstrap
	out.Accuracy.Low, out.Accuracy.High = e[0].Low, e[0].High
	out.Recall.Low, out.Recall.High = e[1].Low, e[1].High
	out.Specificity.Low, out.Specificity.High = e[2].Low, e[2].High
	out.BalancedAccuracy.Low, out.BalancedAccuracy.High = e[3].Low, e[3].High
	return out
}
