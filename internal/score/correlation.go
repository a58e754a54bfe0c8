package score

import "math"

// MCC returns Matthews' correlation coefficient of the decided verdicts with the
// truth (B. W. Matthews, 1975), undefined when one verdict or one truth is
// missing.
func MCC(c Confusion) Figure {
	return mcc(float64(c.Yes.Yes), float64(c.Yes.No), float64(c.No.Yes), float64(c.No.No))
}

// mcc takes true positives, false negatives, false positives and true negatives,
// as counts or as shares.
func mcc(tp, fn, fp, tn float64) Figure {
	product := (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
	if product == 0 {
		return undefined("one verdict or one truth is missing among the decided items")
	}
	return defined((tp*tn - fp*fn) / math.Sqrt(product))
}

// BalancedAccuracy returns the mean of recall and specificity of the decided
// items with its 95% interval, from their Wilson intervals by the method of
// variance estimates recovery (G. Y. Zou, A. Donner, Statistics in Medicine 27,
// 2008; for two proportions it is method 10 of R. G. Newcombe, Statistics in
// Medicine 17, 1998, 873-890).
func BalancedAccuracy(c Confusion) (value, low, high Figure) {
	recall := Wilson(c.Yes.Yes, c.Yes.Decided())
	specificity := Wilson(c.No.No, c.No.Decided())
	value = mean(recall.Value, specificity.Value, 1, 1)
	if !value.Defined {
		return value, value, value
	}
	below := math.Hypot(recall.Value.Value-recall.Low.Value, specificity.Value.Value-specificity.Low.Value) / 2
	above := math.Hypot(recall.High.Value-recall.Value.Value, specificity.High.Value-specificity.Value.Value) / 2
	return value, defined(value.Value - below), defined(value.Value + above)
}
