package main

import (
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/score"
)

// agreementResult is what the command prints, as text or JSON.
type agreementResult struct {
	Modalities []modalityAgreement `json:"modalities"`
	Paired     *pairedAgreement    `json:"paired,omitempty"` // with both modalities
}

// jsonValue is the modality itself when there is only one.
func (r agreementResult) jsonValue() any {
	if len(r.Modalities) == 1 {
		return r.Modalities[0]
	}
	return r
}

// modalityAgreement is everything about one modality.
type modalityAgreement struct {
	Modality     annotation.Modality `json:"modality"`
	Annotators   []string            `json:"annotators"`
	PostHoc      string              `json:"post_hoc,omitempty"` // said of a chosen group
	Items        int                 `json:"items"`
	Votes        int                 `json:"votes"`
	ItemsByVotes map[int]int         `json:"items_by_votes"`
	RestsOn      string              `json:"rests_on"`
	Alpha        coefficient         `json:"alpha"`
	Fleiss       coefficient         `json:"fleiss"`
	Percent      percent             `json:"percent"`
	Cohen        []pair              `json:"cohen"`
	MinShare     int                 `json:"min_share"`
	Truth        truthAgreement      `json:"truth"`
	Reference    reference           `json:"reference"`
	Intervals    intervals           `json:"intervals"`
}

// intervals says how the intervals were made.
type intervals struct {
	Draws int    `json:"draws"`
	Seed  uint64 `json:"seed"`
	Note  string `json:"note"`
}

const intervalNote = "items of two votes or more are drawn with replacement; annotators are treated as fixed"

type coefficient struct {
	Value      score.Figure `json:"value"`
	Items      int          `json:"items"`
	Interval   *interval    `json:"interval,omitempty"`
	NoInterval string       `json:"no_interval,omitempty"` // why there is none
}

type interval struct {
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Draws     int     `json:"draws"`
	Undefined int     `json:"undefined_draws"`
}

type percent struct {
	coefficient
	Agreeing int `json:"agreeing_pairs"`
	Pairs    int `json:"pairs"`
}

type pair struct {
	A string `json:"a"`
	B string `json:"b"`
	coefficient
}

// measureAgreement measures each modality, and the one against the other.
func measureAgreement(set annotation.Set, modalities []annotation.Modality, o agreementOptions) agreementResult {
	everybody := set
	if len(o.annotators) > 0 {
		set = set.Select(o.annotators)
	}
	var result agreementResult
	for _, m := range modalities {
		one := measureModality(set, m, o)
		if all := len(everybody.Annotators(m)); len(o.annotators) > 0 && len(o.annotators) < all {
			one.PostHoc = fmt.Sprintf("%d of %d annotators; if they were chosen by how well they agree, these figures are post hoc and too high",
				len(o.annotators), all)
		}
		result.Modalities = append(result.Modalities, one)
	}
	if len(modalities) > 1 {
		result.Paired = measurePaired(set, o)
	}
	return result
}

func measureModality(set annotation.Set, m annotation.Modality, o agreementOptions) modalityAgreement {
	names := o.annotators
	if len(names) == 0 {
		names = set.Annotators(m)
	}
	rows := voteRows(set, m, set.Items[m], names)
	fleiss := agreement.Fleiss(rows, len(names), o.bootstrap)
	share := agreement.PercentAgreement(rows, o.bootstrap)
	consensus := set.Consensus(m, o.rule)
	result := modalityAgreement{
		Modality:     m,
		Annotators:   names,
		Items:        len(consensus),
		ItemsByVotes: map[int]int{},
		Alpha:        show(agreement.Krippendorff(rows, o.bootstrap)),
		Fleiss:       show(fleiss),
		Percent:      percent{show(share.Coefficient), share.Agreeing, share.Pairs},
		Cohen:        []pair{},
		MinShare:     o.rule.MinShare,
		Truth:        measureTruth(consensus, set.Truth),
		Reference:    measureReference(set, m, o.rule),
		Intervals:    intervals{o.bootstrap.Draws, o.bootstrap.Seed, intervalNote},
	}
	for _, c := range consensus {
		result.Votes += c.Annotators()
		result.ItemsByVotes[c.Annotators()]++
	}
	result.RestsOn = fmt.Sprintf("%d of %d items have one vote and say nothing about agreement; alpha and percent agreement rest on %d, Fleiss' kappa on %d",
		result.ItemsByVotes[1], result.Items, result.Alpha.Items, result.Fleiss.Items)
	for i, a := range names {
		for j := i + 1; j < len(names); j++ {
			result.Cohen = append(result.Cohen, pair{a, names[j], show(agreement.Cohen(rows, i, j, o.bootstrap))})
		}
	}
	return result
}

// voteRows returns the items' votes, a column for each name.
func voteRows(set annotation.Set, m annotation.Modality, items, names []string) []agreement.Row {
	votes := set.Votes(m)
	rows := make([]agreement.Row, len(items))
	for i, item := range items {
		rows[i] = slices.Repeat(agreement.Row{agreement.Missing}, len(names))
		for _, v := range votes[item] {
			if column := slices.Index(names, v.Annotator); column >= 0 {
				rows[i][column] = category(v.Label == annotation.Yes)
			}
		}
	}
	return rows
}

func category(yes bool) agreement.Category {
	if yes {
		return 1
	}
	return 0
}

func show(c agreement.Coefficient) coefficient {
	shown := coefficient{Value: figure(c), Items: c.Items, NoInterval: c.Interval.None}
	if c.Interval.None == "" {
		shown.Interval = &interval{c.Interval.Low, c.Interval.High, c.Interval.Draws, c.Interval.Undefined}
	}
	return shown
}

func figure(c agreement.Coefficient) score.Figure {
	return score.Figure{Value: c.Value, Defined: c.Defined(), Reason: c.Undefined}
}
