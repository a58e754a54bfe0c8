package score

import (
	"fmt"
	"strconv"
	"strings"
)

// Prevalence is the share of items that are manipulative.
type Prevalence struct {
	Share  float64 `json:"share"`
	Stated string  `json:"stated"` // as it was given or counted, e.g. "250:90"
}

// ParsePrevalence reads YES:NO, two counts as 250:90, or a share from 0 to 1.
func ParsePrevalence(s string) (Prevalence, error) {
	s = strings.TrimSpace(s)
	if yes, no, ok := strings.Cut(s, ":"); ok {
		y, errYes := strconv.ParseUint(yes, 10, 32)
		n, errNo := strconv.ParseUint(no, 10, 32)
		if errYes == nil && errNo == nil && y+n > 0 {
			return Prevalence{float64(y) / float64(y+n), fmt.Sprintf("%d:%d", y, n)}, nil
		}
	} else if share, err := strconv.ParseFloat(s, 64); err == nil && share >= 0 && share <= 1 {
		return Prevalence{share, strconv.FormatFloat(share, 'g', -1, 64)}, nil
	}
	return Prevalence{}, fmt.Errorf("%.40q: use YES:NO as 250:90, or a share from 0 to 1 as 0.1", s)
}

// prevalenceOf counts the decided items by truth.
func prevalenceOf(c Confusion) Prevalence {
	yes, no := c.Yes.Decided(), c.No.Decided()
	return Prevalence{float64(yes) / float64(max(1, yes+no)), fmt.Sprintf("%d:%d", yes, no)}
}

// AtPrevalence is what recall and specificity mean where so many of the items are
// manipulative: precision, F1, accuracy and MCC depend on that share, so that they
// can't be carried over as they are.
type AtPrevalence struct {
	Prevalence float64 `json:"prevalence"` // share of truth YES
	Precision  Figure  `json:"precision"`  // of YES
	NPV        Figure  `json:"negative_predictive_value"`
	F1         Figure  `json:"f1"` // of YES
	Accuracy   Figure  `json:"accuracy"`
	MCC        Figure  `json:"mcc"`
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
		none := undefined(reason)
		out.Precision, out.NPV, out.F1, out.Accuracy, out.MCC = none, none, none, none, none
		return out
	}
	tp, fn := recall.Value*prevalence, (1-recall.Value)*prevalence
	tn, fp := specificity.Value*(1-prevalence), (1-specificity.Value)*(1-prevalence)
	out.Precision = quotient(tp, tp+fp, "no verdict is YES")
	out.NPV = quotient(tn, tn+fn, "no verdict is NO")
	out.F1 = quotient(2*tp, 2*tp+fp+fn, "no verdict and no truth is YES")
	out.Accuracy = defined(tp + tn)
	out.MCC = mcc(tp, fn, fp, tn)
	return out
}

func quotient(part, whole float64, reason string) Figure {
	if whole == 0 {
		return undefined(reason)
	}
	return defined(part / whole)
}

// Dependent are the figures that depend on the prevalence, at one, with their
// intervals from draws of the dialogues of each truth.
type Dependent struct {
	Prevalence Prevalence `json:"prevalence"`
	Precision  Estimate   `json:"precision"` // of YES
	NPV        Estimate   `json:"negative_predictive_value"`
	F1         Estimate   `json:"f1"` // of YES
	Accuracy   Estimate   `json:"accuracy"`
	MCC        Estimate   `json:"mcc"`
}

// EstimateDependent returns the figures of the decided items at their own
// prevalence.
func EstimateDependent(items []Item, b Bootstrap) Dependent {
	return EstimateAt(items, prevalenceOf(Count(items).Confusion), b)
}

// EstimateAt restates them at another one, see Restate.
func EstimateAt(items []Item, p Prevalence, b Bootstrap) Dependent {
	s := sampleDecided(items)
	confusion := confusionOf(s)
	e := Resample(s.strata(), b, func(weights []int) []Figure {
		at := Restate(confusion(weights), p.Share)
		return []Figure{at.Precision, at.NPV, at.F1, at.Accuracy, at.MCC}
	})
	return Dependent{p, e[0], e[1], e[2], e[3], e[4]}
}
