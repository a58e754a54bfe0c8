// Package evaluation is the contract that starter, workflows, activities and
// reports share: what an evaluation is asked to do, what it stores, and how
// everything is named.
package evaluation

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Spec is everything that an operator chose for an evaluation. It is stored in
// the manifest and printed in every report; nothing of the protocol lies
// outside it.
type Spec struct {
	ID         string               `json:"id"`
	Note       string               `json:"note,omitempty"` // printed at the top of the report
	Dataset    Dataset              `json:"dataset"`
	Speech     Speech               `json:"speech,omitzero"` // zero when clips are given
	Compose    audio.ComposeOptions `json:"compose"`
	Recognizer string               `json:"recognizer"`
	Detection  Detection            `json:"detection"`
	Rules      vote.Rules           `json:"rules"`
	Quality    Quality              `json:"quality"`
	Limits     Limits               `json:"limits"`
	Prices     Prices               `json:"prices,omitzero"`
	Budget     Budget               `json:"budget,omitzero"`
	// SearchAttributes is false where the namespace doesn't know them.
	SearchAttributes bool `json:"search_attributes"`
	// Private is true where what crosses Temporal is encrypted: then what it must be
	// able to read, ids and search attributes, holds no text from outside.
	Private bool `json:"private,omitempty"`
}

// Dataset says where the dialogues come from.
type Dataset struct {
	Name  string          `json:"name"`           // a label for people and for the search attribute
	Lines objectstore.Ref `json:"lines"`          // the dialogues as JSON lines (dialogue.Marshal)
	Clips bool            `json:"clips"`          // clips exist already: nothing is synthesised
	From  string          `json:"from,omitempty"` // the evaluation whose clips they are
}

// Speech says how turns are spoken.
type Speech struct {
	Synthesizer string     `json:"synthesizer"`
	Pool        voice.Pool `json:"pool"`
	CastingSeed uint64     `json:"casting_seed"`
	Castings    int        `json:"castings,omitempty"` // of every dialogue, each an item of its own; 0 is one
	Seed        uint32     `json:"seed"`               // for synthesizers that sample
	Context     bool       `json:"context,omitempty"`  // the neighbouring turns' texts go with every turn
}

// Detection says who judges, and how often.
type Detection struct {
	Detector    string          `json:"detector"`
	Model       objectstore.Ref `json:"model,omitzero"`         // of detectors that are a file
	ModelName   string          `json:"model_name"`             // for people, the search attribute, and a server that has several
	Strategy    string          `json:"strategy,omitempty"`     // of detectors that are prompted
	OptionOrder string          `json:"option_order,omitempty"` // which letter stands for YES, of the same
	Modality    detect.Modality `json:"modality"`
	Accelerator string          `json:"accelerator"`
	Pool        string          `json:"pool"`
	Seed        uint64          `json:"seed"` // every pass's own seed derives from it
	Passes      PassMode        `json:"passes"`
}

// Both has every dialogue judged twice, by its clip and by its turns as written,
// so that the two can be compared in pairs.
const Both detect.Modality = "both"

// The orders of the option letters: A stands for YES, B does, or every decision is
// made both ways.
const (
	OrderStraight = "ab"
	OrderSwapped  = "ba"
	OrderBoth     = "both"
)

// Modalities returns what the detector is given of each dialogue, one after the
// other.
func (d Detection) Modalities() []detect.Modality {
	if d.Modality == Both {
		return []detect.Modality{detect.Audio, detect.Text}
	}
	return []detect.Modality{d.Modality}
}

// Queue is the task queue of the evaluation's detector.
func (d Detection) Queue() string { return DetectQueue(d.Accelerator, d.Pool) }

// PassMode says whether a stored pass may answer for a new one.
type PassMode string

// The pass modes.
const (
	PassesReuse PassMode = "reuse" // the same question to the same detector is asked once
	PassesFresh PassMode = "fresh" // every evaluation asks anew, as only that can see drift
)

// Quality holds the thresholds above which a clip is flagged. A flagged clip is
// never dropped.
type Quality struct {
	Off            bool    `json:"off,omitempty"`    // clips are recognised only for who reads their words
	MaxWER         float64 `json:"max_wer"`          // word error rate of the recogniser against the text
	MaxF0Semitones float64 `json:"max_f0_semitones"` // a turn's median F0 from its voice's median
}

// DefaultQuality flags what is clearly off: the local voices' recognition
// errors are well below, and half an octave is no natural variation of a voice.
func DefaultQuality() Quality { return Quality{MaxWER: 0.5, MaxF0Semitones: 6} }

// Limits bound how much is in flight at once, and how large a chunk is.
type Limits struct {
	ChunkSize int `json:"chunk_size"`         // dialogues a chunk
	Chunks    int `json:"chunks"`             // chunks at once
	Dialogues int `json:"dialogues"`          // dialogues at once in a chunk
	Failures  int `json:"failures,omitempty"` // dialogues that may fail before the evaluation pauses; 0 is any number
	Priority  int `json:"priority,omitempty"` // 1 (first) to 5 of what waits on a queue; 0 is Temporal's default, 3
}

// DefaultLimits keep a history short and a namespace far below its limits of
// pending children and activities.
func DefaultLimits() Limits { return Limits{ChunkSize: 200, Chunks: 4, Dialogues: 16} }

// Validate returns one error that names everything wrong with the spec.
func (s Spec) Validate() error {
	errs := []error{CheckID(s.ID), s.Compose.Validate(), s.Rules.Validate()}
	if !s.Dataset.Clips {
		errs = append(errs, s.Speech.Pool.Validate())
		if s.Speech.Synthesizer != s.Speech.Pool.Synthesizer {
			errs = append(errs, fmt.Errorf("voice pool %q is for synthesizer %q, not %q", s.Speech.Pool.Name, s.Speech.Pool.Synthesizer, s.Speech.Synthesizer))
		}
	}
	if !slices.Contains([]detect.Modality{detect.Audio, detect.Text, detect.ASR, Both}, s.Detection.Modality) {
		errs = append(errs, fmt.Errorf("modality %q: use audio, text, asr or both", s.Detection.Modality))
	}
	errs = append(errs, s.checkCastings(), s.Budget.Validate(s.Prices))
	if s.Detection.Passes != PassesReuse && s.Detection.Passes != PassesFresh {
		errs = append(errs, fmt.Errorf("passes %q: use reuse or fresh", s.Detection.Passes))
	}
	for name, value := range s.Limits.positive() {
		if value < 1 {
			errs = append(errs, fmt.Errorf("limit %s is %d, must be at least 1", name, value))
		}
	}
	if s.Limits.Failures < 0 {
		errs = append(errs, fmt.Errorf("limit failures is %d, must be at least 0", s.Limits.Failures))
	}
	if s.Limits.Priority < 0 || s.Limits.Priority > 5 {
		errs = append(errs, fmt.Errorf("priority is %d, must be from 1 (first) to 5", s.Limits.Priority))
	}
	if s.Limits.ChunkSize > MaxChunk {
		errs = append(errs, fmt.Errorf("limit chunk_size is %d, must be at most %d", s.Limits.ChunkSize, MaxChunk))
	}
	for _, part := range []string{s.Detection.Accelerator, s.Detection.Pool} {
		if part == "" || EncodeID(part) != part {
			errs = append(errs, fmt.Errorf("accelerator and pool name a queue: %q must be letters, digits, '.', '_' or '-'", part))
		}
	}
	return errors.Join(errs...)
}

// MaxChunk bounds a chunk, so that its history stays short.
const MaxChunk = 200

func (l Limits) positive() func(yield func(string, int) bool) {
	return func(yield func(string, int) bool) {
		_ = yield("chunk_size", l.ChunkSize) && yield("chunks", l.Chunks) && yield("dialogues", l.Dialogues)
	}
}

// Label returns the dataset's name as the search attribute shows it.
func (d Dataset) Label() string {
	return strings.TrimSuffix(strings.TrimSuffix(d.Name, ".csv"), ".jsonl")
}

// Attributes are the values of the search attributes that all workflows of the
// evaluation share. They carry no text from outside but encoded names, and of a
// private evaluation not those.
func (s Spec) Attributes() map[string]string {
	if s.Private {
		return map[string]string{
			AttributeEvaluation: s.ID,
			AttributeDetector:   EncodeID(s.Detection.Detector),
			AttributeModality:   string(s.Detection.Modality),
		}
	}
	return map[string]string{
		AttributeEvaluation: s.ID,
		AttributeDataset:    EncodeID(s.Dataset.Label()),
		AttributeDetector:   EncodeID(s.Detection.Detector),
		AttributeModel:      EncodeID(s.Detection.ModelName),
		AttributeModality:   string(s.Detection.Modality),
	}
}
