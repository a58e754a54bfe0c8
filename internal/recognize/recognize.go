// Package recognize is the port to speech recognisers: a clip to its words with
// their times.
package recognize

import (
	"context"

	"github.com/speechmanip/speechmanip/internal/audio"
)

// Engine identifies a recogniser; it is part of the transcript's content key.
type Engine struct {
	Name    string `json:"name"`    // e.g. "pocketsphinx"
	Model   string `json:"model"`   // acoustic and language model
	Version string `json:"version"` // of the program and of the settings used
}

// Word is one recognised word; times are seconds from the clip's start.
type Word struct {
	Text       string  `json:"text"`
	Start      float64 `json:"start"`
	End        float64 `json:"end"`
	Confidence float64 `json:"confidence"` // 0 to 1, as the recogniser says
}

// Transcript is what a recogniser heard in one clip.
type Transcript struct {
	Engine Engine  `json:"engine"`
	Words  []Word  `json:"words"`
	Length float64 `json:"length"` // the clip's length in seconds
}

// Recognizer transcribes clips. Errors are faults (package fault).
type Recognizer interface {
	// Engine identifies the recogniser; it fails when it is not installed.
	Engine(ctx context.Context) (Engine, error)
	// Recognize transcribes one clip of any rate. A clip without speech is an
	// empty transcript, no error.
	Recognize(ctx context.Context, clip audio.PCM) (Transcript, error)
}
