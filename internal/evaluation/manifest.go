package evaluation

import (
	"cmp"
	"time"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Manifest is the stored beginning of an evaluation: the truth about what it
// is, with or without Temporal. It is written once.
type Manifest struct {
	Spec      Spec              `json:"spec"`
	Created   time.Time         `json:"created"`
	Items     int               `json:"items"`               // to evaluate: one a dialogue and casting
	Chunks    []objectstore.Ref `json:"chunks"`              // each a Chunk
	Estimates []Cost            `json:"estimates,omitempty"` // of the chunks, where a budget is set
	Exemplars []Excluded        `json:"exemplars"`
	Shown     []Exemplar        `json:"shown,omitempty"` // to the detector, in this order, before every item
}

// Exemplar is a solved dialogue that prompts show. Its item has a clip where
// clips are given; else it is rendered as the items are.
type Exemplar struct {
	Item Item `json:"item"`
	vote.Exemplar
}

// Excluded is a dialogue that was asked for and is not scored.
type Excluded struct {
	ID string `json:"id"`
	// CastingNumber is the one that is left out; 0 where all of the dialogue is.
	CastingNumber int    `json:"casting_number,omitempty"`
	Reason        string `json:"reason"`
}

// Chunk is a stored list of at most MaxChunk items.
type Chunk struct {
	Items []Item `json:"items"`
}

// Estimate is the most that the chunk is expected to take.
func (c Chunk) Estimate() Cost {
	var sum Cost
	for _, item := range c.Items {
		sum = sum.Add(item.Estimate)
	}
	return sum
}

// Item points to one dialogue of the dataset, in one casting, and to its clip where
// that exists already.
type Item struct {
	ID string `json:"id"`
	// Alias stands for ID in the names of workflows, where Temporal must not show ids;
	// "" where it may.
	Alias string `json:"alias,omitempty"`
	Line  Slice  `json:"line"`
	// CastingNumber says which of the dialogue's castings it is, counted from 1; 0
	// where every dialogue has one.
	CastingNumber int             `json:"casting_number,omitempty"`
	Clip          objectstore.Ref `json:"clip,omitzero"`
	// Timeline is that clip's, where it is known: of clips that an earlier evaluation
	// composed.
	Timeline objectstore.Ref `json:"timeline,omitzero"`
	// Estimate is the most that the dialogue is expected to take when nothing of it
	// is stored; zero where no budget is set.
	Estimate Cost `json:"estimate,omitzero"`
}

// Name is what Temporal may show of the item.
func (i Item) Name() string { return cmp.Or(i.Alias, i.ID) }

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
	Swapped    detect.Identity  `json:"swapped,omitzero"`   // the same with the option letters exchanged, under OrderBoth
	Exemplars  objectstore.Ref  `json:"exemplars,omitzero"` // a stored []Exemplar, all with clips where clips are heard
	Rendering  Usage            `json:"rendering,omitzero"` // what rendering the exemplars took
	Facts      objectstore.Ref  `json:"facts,omitzero"`     // a stored []detect.Fact
	// SharesPrefix says that an item's questions are best asked of one worker.
	SharesPrefix bool            `json:"shares_prefix,omitempty"`
	NeedsWords   bool            `json:"needs_words"`   // the detector reads the transcript
	Seen         objectstore.Ref `json:"seen,omitzero"` // a stored detect.Seen
}

// Ended says when an evaluation came to its report for the first time.
type Ended struct {
	Ended time.Time `json:"ended"`
}

// Task is one dialogue to evaluate: the input of its workflow.
type Task struct {
	Evaluation string          `json:"evaluation"`
	Manifest   objectstore.Ref `json:"manifest"`
	Engines    objectstore.Ref `json:"engines"`
	Chunk      int             `json:"chunk"`
	Item       Item            `json:"item"`
	Generation int             `json:"generation,omitempty"` // of the evaluation's pauses, when the dialogue began
}
