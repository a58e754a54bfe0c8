package study

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// Flag is what looks careless in a batch. It is for a person to judge: nothing that is
// flagged is left out.
type Flag struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// The codes of flags.
const (
	FlagIncomplete = "incomplete"      // items without a judgment
	FlagAttention  = "attention"       // a check answered otherwise than expected
	FlagFast       = "fast"            // judged in less time than it takes
	FlagStraight   = "straight-lining" // the same answer many times in a row
)

// flags looks at what a sheet holds.
func (s *Sheet) flags() []Flag {
	var flags []Flag
	add := func(code, format string, args ...any) {
		flags = append(flags, Flag{code, fmt.Sprintf(format, args...)})
	}
	judgments := s.judgments()
	if n := len(s.Assignment.Items); len(judgments) < n {
		add(FlagIncomplete, "%d of %d items judged", len(judgments), n)
	}
	missed, checks, fast := 0, 0, 0
	for _, j := range judgments {
		if expected := s.expected(j.Item); expected != "" {
			checks++
			if j.Label != expected {
				missed++
			}
		}
		if j.Millis < s.least(j.Item) {
			fast++
		}
	}
	if missed > 0 {
		add(FlagAttention, "%d of %d attention checks missed", missed, checks)
	}
	if fast > 0 {
		add(FlagFast, "%d of %d items judged in less time than they take", fast, len(judgments))
	}
	if run, label := longestRun(judgments); s.Rules.StraightRun > 0 && run >= s.Rules.StraightRun {
		add(FlagStraight, "%s %d times in a row", label, run)
	}
	return flags
}

func longestRun(judgments []Judgment) (longest int, label annotation.Label) {
	run := 0
	for i, j := range judgments {
		if i == 0 || j.Label != judgments[i-1].Label {
			run = 0
		}
		if run++; run > longest {
			longest, label = run, j.Label
		}
	}
	return longest, label
}
