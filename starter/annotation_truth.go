package main

import (
	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
)

// truthAgreement sets the majority against the truth: decided items only, and as
// the paper counted, with ties as NO.
type truthAgreement struct {
	Undefined string `json:"undefined,omitempty"` // why there is nothing to compare
	truthCount
	Unresolved int        `json:"unresolved"`
	Open       []string   `json:"unresolved_items,omitempty"`
	Unlabelled int        `json:"unlabelled"` // items without truth
	AsPaper    truthCount `json:"as_paper"`
}

type truthCount struct {
	Agree int          `json:"agree"`
	Items int          `json:"items"`
	Table [2][2]int    `json:"table"` // truth YES, NO downwards; majority YES, NO across
	Share score.Rate   `json:"share"` // with its Wilson interval
	Kappa score.Figure `json:"kappa"`
}

func measureTruth(consensus []annotation.Consensus, truth map[string]dialogue.Truth) truthAgreement {
	table := annotation.AgainstTruth(consensus, truth)
	result := truthAgreement{
		truthCount: countTruth(table),
		Unresolved: len(table.Unresolved), Open: table.Unresolved, Unlabelled: table.Unlabelled,
		AsPaper: countTruth(annotation.AgainstTruth(annotation.TiesAsNo(consensus), truth)),
	}
	if table.Items+len(table.Unresolved) == 0 {
		result.Undefined = "the files give no truth for these items (column MentalManip of the wide form, truth of the long one)"
	}
	return result
}

func countTruth(t annotation.TruthTable) truthCount {
	return truthCount{
		Agree: t.Agree, Items: t.Items, Table: t.Table, Share: score.Wilson(t.Agree, t.Items),
		Kappa: figure(agreement.CohenOfTable(t.Table)),
	}
}

// reference says how often people agree with the consensus of the others: for
// reading a model's figures against, and no ceiling.
type reference struct {
	referenceCount
	Each []referenceCount `json:"annotators"`
}

type referenceCount struct {
	Annotator  string       `json:"annotator,omitempty"` // empty for all together
	Agree      int          `json:"agree"`
	Votes      int          `json:"votes"`
	Share      score.Figure `json:"share"`
	Unresolved int          `json:"unresolved"` // votes not compared: the others are tied
}

func measureReference(set annotation.Set, m annotation.Modality, r annotation.Rule) reference {
	all, each := set.LeaveOneOut(m, r)
	result := reference{referenceCount: showReference(all), Each: []referenceCount{}}
	for _, one := range each {
		result.Each = append(result.Each, showReference(one))
	}
	return result
}

func showReference(r annotation.Reference) referenceCount {
	share := score.Figure{Reason: "no vote can be compared with a consensus of others"}
	if r.Votes > 0 {
		share = score.Figure{Value: float64(r.Agree) / float64(r.Votes), Defined: true}
	}
	return referenceCount{r.Annotator, r.Agree, r.Votes, share, r.Unresolved}
}
