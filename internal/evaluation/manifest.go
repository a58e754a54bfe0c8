package evaluation

import (
	"time"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
)

// Manifest is the stored beginning of an evaluation: the truth about what it
// is, with or without Temporal. It is written once.
type Manifest struct {
	Spec      Spec              `json:"spec"`
	Created   time.Time         `json:"created"`
	Items     int               `json:"items"`  // dialogues to evaluate
	Chunks    []objectstore.Ref `json:"chunks"` // each a Chunk
	Exemplars []Excluded        `json:"exemplars"`
}

// Excluded is a dialogue that was asked for and is not scored.
type Excluded struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Chunk is a stored list of at most MaxChunk items.
type Chunk struct {
	Items []Item `json:"items"`
}

// Item points to one dialogue of the dataset, and to its clip where that
// exists already.
type Item struct {
	ID   string          `json:"id"`
	Line Slice           `json:"line"`
	Clip objectstore.Ref `json:"clip,omitzero"`
}

// Slice is a part of a stored object, with the hash of that part.
type Slice struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	SHA256 string `json:"sha256"`
}

// Engines says exactly who spoke, listened and judged: what the workers
// reported before the first call. It is stored beside the manifest.
type Engines struct {
	Speech     speech.Engine    `json:"speech,omitzero"`
	Recognizer recognize.Engine `json:"recognizer"`
	Detector   detect.Identity  `json:"detector"`
	NeedsWords bool             `json:"needs_words"`   // the detector reads the transcript
	Seen       objectstore.Ref  `json:"seen,omitzero"` // a stored detect.Seen
}

// Task is one dialogue to evaluate: the input of its workflow.
type Task struct {
	Evaluation string          `json:"evaluation"`
	Manifest   objectstore.Ref `json:"manifest"`
	Engines    objectstore.Ref `json:"engines"`
	Chunk      int             `json:"chunk"`
	Item       Item            `json:"item"`
}
