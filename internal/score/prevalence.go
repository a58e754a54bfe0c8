package score

// AtPrevalence is what recall and specificity mean where another share of the
// dialogues is manipulative than in the evaluated set: precision, F1 and accuracy
// depend on that share, so that they can't be carried over as they are.
type AtPrevalence struct {
	Prevalence float64 `json:"prevalence"` // share of truth YES
	Precision  Figure  `json:"precision"`  // of YES
	NPV        Figure  `json:"negative_predictive_value"`
	F1         Figure  `json:"f1"` // of YES
	Accuracy   Figure  `json:"accuracy"`
}

// Restate returns the figures of the decided items at a prevalence from 0 to 1,
// by Bayes' rule (D. G. Altman, J. M. Bland, BMJ 309, 1994, 102). It takes recall
// and specificity to be the same there.
func Restate(c Confusion, prevalence float64) AtPrevalence {
	out := AtPrevalence{Prevalence: prevalence}
	recall := ratio(c.Yes.Yes, c.Yes.Decided(), "no decided item's truth is YES")
	specificity := ratio(c.No.No, c.No.Decided(), "no decided item's truth is NO")
	reason := ""
	switch {
	case !(prevalence >= 0 && prevalence <= 1): // so that NaN fails too
		reason = "the prevalence is not from 0 to 1"
		out.Prevalence = 0
	case !recall.Defined:
		reason = recall.Reason
	case !specificity.Defined:
		reason = specificity.Reason
	}
	if reason != "" {
		out.Precision, out.NPV, out.F1, out.Accuracy = undefined(reason), undefined(reason), undefined(reason), undefined(reason)
		return out
	}
	tp, fn := recall.Value*prevalence, (1-recall.Value)*prevalence
	tn, fp := specificity.Value*(1-prevalence), (1-specificity.Value)*(1-prevalence)
	out.Precision = quotient(tp, tp+fp, "no verdict is YES")
	out.NPV = quotient(tn, tn+fn, "no verdict is NO")
	out.F1 = quotient(2*tp, 2*tp+fp+fn, "no verdict and no truth is YES")
	out.Accuracy = defined(tp + tn)
	return out
}

func quotient(part, whole float64, reason string) Figure {
	if whole == 0 {
		return undefined(reason)
	}
	return defined(part / whole)
}
