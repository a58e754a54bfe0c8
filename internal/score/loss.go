package score

import (
	"fmt"
	"math"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Metric is a share of right verdicts that may not fall.
type Metric string

// The metrics.
const (
	MetricRecall           Metric = "recall"
	MetricSpecificity      Metric = "specificity"
	MetricBalancedAccuracy Metric = "balanced_accuracy"
	MetricAccuracy         Metric = "accuracy"
)

// ParseMetric reads a metric's name.
func ParseMetric(s string) (Metric, error) {
	switch m := Metric(s); m {
	case MetricRecall, MetricSpecificity, MetricBalancedAccuracy, MetricAccuracy:
		return m, nil
	}
	return "", fmt.Errorf("metric %q: use %s, %s, %s or %s", s, MetricRecall, MetricSpecificity, MetricBalancedAccuracy, MetricAccuracy)
}

// Loss is how much of a metric was lost from one condition to another on the same
// dialogues. What has no verdict is not right: who stops deciding loses too.
type Loss struct {
	Metric  Metric `json:"metric"`
	N       int    `json:"n"`    // pairs of the truths that the metric is about
	Open    int    `json:"open"` // of those, without a YES or NO under either condition
	Before  Figure `json:"before"`
	After   Figure `json:"after"`
	Lost    Figure `json:"lost"`     // before minus after
	AtLeast Figure `json:"at_least"` // one-sided, with this confidence
	// Confidence is of AtLeast and so of Shown, from 0 to 1.
	Confidence float64 `json:"confidence"`
	// Allowed is what may be lost; Shown says that more than that was.
	Allowed float64 `json:"allowed"`
	Shown   bool    `json:"shown"`
	// Smallest is the least loss that would have been shown with these pairs, had
	// nothing been gained; undefined where not even losing all would.
	Smallest Figure `json:"smallest_shown"`
}

// LossConfidence is that of one check made once.
const LossConfidence = 0.95

// MeasureLoss compares pairs, whose first condition was before the second.
// allowed is from 0 to 1, confidence of the lower bound between them. Pairs of one
// dialogue, as of its castings, may all go the same way: the bounds take them for one.
func MeasureLoss(pairs []Pair, m Metric, allowed, confidence float64) Loss {
	out := Loss{Metric: m, Allowed: allowed, Confidence: confidence}
	z := distuv.UnitNormal.Quantile(confidence) // one end of an interval
	z *= math.Sqrt(float64(mostPairs(pairs)))   // Wilson's interval of so many fewer
	var strata []agreement.Paired
	switch m {
	case MetricRecall:
		strata = []agreement.Paired{out.count(pairs, dialogue.Yes)}
	case MetricSpecificity:
		strata = []agreement.Paired{out.count(pairs, dialogue.No)}
	case MetricBalancedAccuracy:
		strata = []agreement.Paired{out.count(pairs, dialogue.Yes), out.count(pairs, dialogue.No)}
	default:
		strata = []agreement.Paired{out.count(asYes(pairs), dialogue.Yes)}
	}
	var before, after, size float64
	for _, s := range strata {
		if s.N() == 0 {
			none := undefined("no pair of one truth")
			out.Before, out.After, out.Lost, out.AtLeast, out.Smallest = none, none, none, none, none
			return out
		}
		before += float64(s.Both+s.OnlyFirst) / float64(s.N())
		after += float64(s.Both+s.OnlySecond) / float64(s.N())
		size++
	}
	lost, least := leastLoss(strata, z)
	out.Before, out.After, out.Lost, out.AtLeast = defined(before/size), defined(after/size), defined(lost), defined(least)
	out.Shown = least > allowed
	out.Smallest = smallestLoss(strata, allowed, z)
	return out
}

// mostPairs returns how many pairs the dialogue with most of them has, at least 1.
func mostPairs(pairs []Pair) int {
	most, of := 1, map[string]int{}
	for _, p := range pairs {
		if p.ID != "" {
			of[p.ID]++
			most = max(most, of[p.ID])
		}
	}
	return most
}

// count counts the pairs of one truth, right or not.
func (l *Loss) count(pairs []Pair, truth dialogue.Truth) agreement.Paired {
	right := vote.Verdict(truth)
	var out agreement.Paired
	for _, p := range pairs {
		if p.Truth != truth {
			continue
		}
		l.N++
		if p.First == vote.Unresolved || p.Second == vote.Unresolved {
			l.Open++
		}
		out.Add(p.First == right, p.Second == right)
	}
	return out
}

// leastLoss returns the mean loss of strata that have pairs, and its lower bound.
func leastLoss(strata []agreement.Paired, z float64) (lost, least float64) {
	squares := 0.0
	for _, s := range strata {
		n := s.N()
		below, _ := newcombe(wilson(s.Both+s.OnlyFirst, n, z), wilson(s.Both+s.OnlySecond, n, z), s)
		lost += float64(s.OnlyFirst-s.OnlySecond) / float64(n)
		squares += below * below
	}
	k := float64(len(strata))
	return lost / k, lost/k - math.Sqrt(squares)/k
}

// smallestLoss searches the losses of what was right before. With two strata it
// takes every loss of the first, and the least of the second that goes with it.
func smallestLoss(strata []agreement.Paired, allowed, z float64) Figure {
	first := strata[0]
	last := strata[len(strata)-1]
	outer := 0
	if len(strata) > 1 {
		outer = first.Both + first.OnlyFirst
	}
	best := undefined("not even the loss of all would have been shown")
	for k := range outer + 1 {
		lose := func(j int) []agreement.Paired {
			if len(strata) == 1 {
				return []agreement.Paired{afterLosing(last, j)}
			}
			return []agreement.Paired{afterLosing(first, k), afterLosing(last, j)}
		}
		right := last.Both + last.OnlyFirst
		j := sort.Search(right+1, func(j int) bool { _, least := leastLoss(lose(j), z); return least > allowed })
		if j > right {
			continue
		}
		if lost, _ := leastLoss(lose(j), z); !best.Defined || lost < best.Value {
			best = defined(lost)
		}
	}
	return best
}

// afterLosing is what the pairs would be had k of those that were right before
// become wrong, and nothing else changed.
func afterLosing(p agreement.Paired, k int) agreement.Paired {
	right := p.Both + p.OnlyFirst
	return agreement.Paired{Both: right - k, OnlyFirst: k, Neither: p.N() - right}
}

// Sentence says in one line what was found.
func (l Loss) Sentence() string {
	word := "no regression shown"
	if l.Shown {
		word = "REGRESSION"
	}
	smallest := "with these pairs no loss could have been shown"
	if l.Smallest.Defined {
		smallest = fmt.Sprintf("the smallest loss it could have shown is %.3f", l.Smallest.Value)
	}
	return fmt.Sprintf("%s: %s went from %.3f to %.3f (n = %d, %d open as not right): lost %.3f, with %s%% confidence at least %.3f, allowed %s; %s",
		word, l.Metric, l.Before.Value, l.After.Value, l.N, l.Open, l.Lost.Value, strconv.FormatFloat(100*l.Confidence, 'g', 8, 64), l.AtLeast.Value, strconv.FormatFloat(l.Allowed, 'g', -1, 64), smallest)
}
