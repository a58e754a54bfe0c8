package evaluation

import (
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// MaxSensitivity bounds the questions of one measurement of sensitivity: each is
// an activity of one workflow, whose history must stay short.
const MaxSensitivity = 500

// Sensitivity is a stored list of decisions to ask for again in other words: every
// item in every variation. The first variation is the evaluation's own setting.
type Sensitivity struct {
	Evaluation string            `json:"evaluation"`
	Manifest   objectstore.Ref   `json:"manifest"`
	Engines    objectstore.Ref   `json:"engines"`
	Modality   detect.Modality   `json:"modality"`
	Items      []SensitivityItem `json:"items"`
	Variations []Variation       `json:"variations"`
}

// SensitivityItem is a judged dialogue, with what the modality needs of it.
type SensitivityItem struct {
	Item       Item            `json:"item"`
	Clip       objectstore.Ref `json:"clip,omitzero"`
	Transcript objectstore.Ref `json:"transcript,omitzero"`
}

// Variation is one way to ask for a decision.
type Variation struct {
	Name      string          `json:"name"`
	Order     string          `json:"order"`              // of the option letters: OrderStraight or OrderSwapped
	Exemplars objectstore.Ref `json:"exemplars,omitzero"` // a stored []Exemplar, in the order to show them
	Words     bool            `json:"words,omitempty"`    // ask for YES or NO in place of the letters
}

// Variant is a detector's answer in one variation.
type Variant struct {
	Vote   vote.Vote `json:"vote"`   // the more probable answer; INVALID where neither is, or none came
	PYes   vote.Mass `json:"p_yes"`  // of YES against NO
	Method string    `json:"method"` // how it was had
}

// StoredVariant is the object under a VariantKey.
type StoredVariant struct {
	Question Question `json:"question"`
	Order    string   `json:"order"`
	Words    bool     `json:"words"`
	Variant
}

// VariantKey is where the answer to a question in one variation lies. The
// question's detector is the evaluation's, so that what is stored is found without
// asking the detector who it is.
func VariantKey(q Question, v Variation) string {
	return "passes/" + contentHash("variant", struct {
		Question  Question
		Order     string
		Exemplars string // hash of the list, in its order
		Words     bool
	}{q, v.Order, v.Exemplars.SHA256, v.Words}) + ".json"
}

// SensitivityKey is where a Sensitivity with that hash lies.
func SensitivityKey(sha256 string) string { return "sensitivity/" + sha256 + ".json" }

// ShownKey is where a []Exemplar with that hash lies.
func ShownKey(sha256 string) string { return "sensitivity/exemplars-" + sha256 + ".json" }

// SensitivityWorkflowID is the workflow id of a Sensitivity with that hash; it is
// no evaluation's.
func SensitivityWorkflowID(evaluation, sha256 string) string {
	return "sensitivity/" + evaluation + "/" + sha256
}
