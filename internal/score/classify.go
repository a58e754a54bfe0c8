package score

// Class is how well one verdict is found. Precision is undefined when nothing
// was given that verdict; F1 is 2TP/(2TP+FP+FN), so it is 0 there.
type Class struct {
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
	F1        Figure `json:"f1"`
	Support   int    `json:"support"` // items whose truth this is
}

// Average is the classes' mean; undefined when a figure that it needs is.
type Average struct {
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
	F1        Figure `json:"f1"`
}

// Metrics are the figures of one confusion without UNRESOLVED.
type Metrics struct {
	Yes              Class   `json:"yes"` // recall is sensitivity
	No               Class   `json:"no"`  // recall is specificity
	Macro            Average `json:"macro"`
	Weighted         Average `json:"weighted"` // by support
	Accuracy         Figure  `json:"accuracy"`
	BalancedAccuracy Figure  `json:"balanced_accuracy"`
}

// Classification says how well verdicts match the truth. The embedded metrics
// are of the decided items only; Worst and Best are what they would be with every
// UNRESOLVED and failed item counted as wrong, and as right.
type Classification struct {
	N          int `json:"n"`
	Decided    int `json:"decided"`
	Unresolved int `json:"unresolved"`
	Failed     int `json:"failed"`
	Metrics
	Intervals Intervals `json:"intervals"`
	Worst     Metrics   `json:"worst"`
	Best      Metrics   `json:"best"`
}

// Classify returns the figures of a confusion and the failures beside it. Its
// intervals take every item as a dialogue of its own.
func Classify(c Confusion, failed Failed) Classification {
	openYes, openNo := c.Yes.Unresolved+failed.Yes, c.No.Unresolved+failed.No
	worst, best := c, c
	worst.Yes.No += openYes
	worst.No.Yes += openNo
	best.Yes.Yes += openYes
	best.No.No += openNo

	decided := c.Yes.Decided() + c.No.Decided()
	return Classification{
		N:          decided + openYes + openNo,
		Decided:    decided,
		Unresolved: c.Yes.Unresolved + c.No.Unresolved,
		Failed:     failed.Yes + failed.No,
		Metrics:    measure(c),
		Intervals:  wilsonIntervals(c),
		Worst:      measure(worst),
		Best:       measure(best),
	}
}

// measure ignores UNRESOLVED.
func measure(c Confusion) Metrics {
	yes := measureClass("YES", c.Yes.Yes, c.No.Yes, c.Yes.No)
	no := measureClass("NO", c.No.No, c.Yes.No, c.No.Yes)
	return Metrics{
		Yes:              yes,
		No:               no,
		Macro:            average(yes, no, 1, 1),
		Weighted:         average(yes, no, yes.Support, no.Support),
		Accuracy:         ratio(c.Yes.Yes+c.No.No, yes.Support+no.Support, "no decided items"),
		BalancedAccuracy: mean(yes.Recall, no.Recall, 1, 1),
	}
}

// measureClass takes true positives, false positives and false negatives.
func measureClass(name string, tp, fp, fn int) Class {
	return Class{
		Precision: ratio(tp, tp+fp, "no verdict is "+name),
		Recall:    ratio(tp, tp+fn, "no decided item's truth is "+name),
		F1:        ratio(2*tp, 2*tp+fp+fn, "no verdict and no truth is "+name),
		Support:   tp + fn,
	}
}

func average(yes, no Class, weightYes, weightNo int) Average {
	return Average{
		Precision: mean(yes.Precision, no.Precision, weightYes, weightNo),
		Recall:    mean(yes.Recall, no.Recall, weightYes, weightNo),
		F1:        mean(yes.F1, no.F1, weightYes, weightNo),
	}
}

// mean ignores a figure of weight 0, defined or not.
func mean(a, b Figure, weightA, weightB int) Figure {
	switch {
	case weightA+weightB == 0:
		return undefined("no decided items")
	case weightA > 0 && !a.Defined:
		return a
	case weightB > 0 && !b.Defined:
		return b
	}
	return defined((a.Value*float64(weightA) + b.Value*float64(weightB)) / float64(weightA+weightB))
}

// ClassifyItems returns the figures of items, with intervals that know which of
// them are of one dialogue.
func ClassifyItems(items []Item) Classification {
	tally := Count(items)
	c := Classify(tally.Confusion, tally.Failed)
	c.Intervals = intervalsOf(items, tally.Confusion)
	return c
}
