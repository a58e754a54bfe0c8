package report

import (
	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// People is what annotators say of the headline items: a reference to read the
// detector's figures against, and no ceiling.
type People struct {
	Modality annotation.Modality `json:"modality"` // that the people were given
	Against  string              `json:"against"`  // the modality of the detector's verdicts beside them
	MinShare int                 `json:"min_share"`

	Scored     int `json:"scored"`      // headline items that the detector decided
	Annotated  int `json:"annotated"`   // of those, with a vote
	Unresolved int `json:"unresolved"`  // of those, where the people's consensus is UNRESOLVED
	SingleVote int `json:"single_vote"` // of those annotated, with one vote: one person's opinion
	Compared   int `json:"compared"`    // decided by both: what the next two are of

	People   score.Classification `json:"people"` // their consensus against the truth
	Detector score.Classification `json:"detector"`
	Agree    score.Rate           `json:"agree"` // the detector with the consensus

	// LeaveOneOut is of the compared items with two votes or more: how often a person
	// agrees with the consensus of the others. DetectorAgree is the detector's
	// agreement with the whole consensus of these items.
	LeaveOneOut   Reference  `json:"leave_one_out"`
	DetectorAgree score.Rate `json:"detector_agree"`

	Labels LabelTable `json:"labels"` // of all annotated items, scored or not
}

// Reference counts votes against the consensus of an item's other votes.
type Reference struct {
	Agree      int          `json:"agree"`
	Votes      int          `json:"votes"`
	Share      score.Figure `json:"share"`
	Unresolved int          `json:"unresolved"` // votes not compared: the others are tied
}

// LabelTable sets consensuses against the dataset's labels, as the paper's Table 6.
type LabelTable struct {
	Table      [2][2]int    `json:"table"` // label YES, NO downwards; consensus YES, NO across
	Share      score.Rate   `json:"share"` // that agree, of the decided
	Kappa      score.Figure `json:"kappa"` // Cohen's
	Unresolved []string     `json:"unresolved"`
	// AsPaper counts ties as NO, as the paper's table does.
	AsPaper *LabelTable `json:"as_paper,omitempty"`
}

// Truths scores the same verdicts against several truths.
type Truths struct {
	Sets []TruthSet `json:"sets"` // the dataset's labels first
	// Common are the items that every set decides; Same of them have the same truth
	// in all sets.
	Common        int            `json:"common"`
	Same          int            `json:"same"`
	Disagreements []Disagreement `json:"disagreements"` // by id
}

// TruthSet is one truth of the headline items.
type TruthSet struct {
	Name       string               `json:"name"`
	Source     string               `json:"source,omitempty"` // the file
	Unresolved int                  `json:"unresolved"`       // consensus UNRESOLVED: no truth here
	Missing    int                  `json:"missing"`          // not in the source
	Own        score.Classification `json:"own"`              // of the items that this set decides
	OnCommon   score.Classification `json:"on_common"`        // of those that every set decides
}

// Disagreement is an item whose truths are not all the same.
type Disagreement struct {
	ID      string           `json:"id"`
	Truths  []dialogue.Truth `json:"truths"` // in the order of the sets; "" is none
	Votes   []string         `json:"votes"`  // YES:NO of a consensus, "" of labels
	Verdict vote.Verdict     `json:"verdict"`
	Failed  bool             `json:"failed,omitempty"`
}
