// Package detect is the port to manipulation detectors: whether a clip is
// manipulative, by which tactic, and on what evidence.
package detect

import (
	"context"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Modality is what a detector is given of a dialogue.
type Modality string

// The modalities.
const (
	Audio Modality = "audio" // the clip
	Text  Modality = "text"  // the turns as written
	ASR   Modality = "asr"   // the recogniser's text of the clip
)

// Identity says exactly which detector answered; all of it is part of a pass's
// content key.
type Identity struct {
	Detector    string `json:"detector"`          // e.g. "baseline-cascade"
	Model       string `json:"model"`             // a name or a content hash
	Fingerprint string `json:"fingerprint"`       // of the program or server
	Dialect     string `json:"dialect,omitempty"` // of a server's protocol
	Method      string `json:"method"`            // how decisions and tactics are scored
}

// Seen is what a detector was trained and tuned on. Items in it are reported
// apart from unseen ones.
type Seen struct {
	IDs        []string `json:"ids"`
	TextHashes []string `json:"text_hashes"` // dialogue.TextHash values
}

// Item is one dialogue as a detector may see it. Only what the modality allows
// is set; audio and transcript are loaded when asked for.
type Item struct {
	ID         string
	Modality   Modality
	Turns      []dialogue.Turn                                     // text only
	Audio      func(context.Context) (audio.PCM, error)            // audio
	AudioHash  string                                              // the same for the same audio; "" is unknown
	Transcript func(context.Context) (recognize.Transcript, error) // asr, and detectors that NeedTranscript
	Prepared   []byte                                              // what Prepare returned; nil in Prepare
}

// Pass is one stochastic pass.
type Pass struct {
	Index    int
	Seed     int64 // the pass's own, never shared with another pass
	Sampling vote.Sampling
}

// Decision is a pass's answer with the probability behind it.
type Decision struct {
	Vote   vote.Vote   `json:"vote"`
	Method vote.Method `json:"method"`
	PYes   vote.Mass   `json:"p_yes"`            // of YES at temperature 1, before sampling
	Reply  string      `json:"reply"`            // the raw answer
	Prompt string      `json:"prompt,omitempty"` // SHA-256 of the rendered prompt, of detectors that have one
}

// Choice is the distribution that a constrained pass is drawn from, after
// temperature and top-p.
type Choice struct {
	Yes    vote.Nano `json:"yes"`    // the probability that one pass says YES
	PYes   vote.Mass `json:"p_yes"`  // of YES at temperature 1, before sampling
	Method string    `json:"method"` // how it was had
	Prompt string    `json:"prompt,omitempty"`
}

// Chooser is a detector that can tell the distribution behind its passes. A
// detector that can't for this server or these settings returns a Permanent fault
// that says why.
type Chooser interface {
	// CheckChoose fails where Choose would, before anything is rendered.
	CheckChoose(ctx context.Context, sampling vote.Sampling) error
	Choose(ctx context.Context, item Item, sampling vote.Sampling) (Choice, error)
}

// PrefixSharer is a detector whose server answers sooner where it has seen the
// beginning of the prompt: an item's questions then belong on one server.
type PrefixSharer interface {
	SharesPrefix(ctx context.Context) (bool, error)
}

// Fact is one thing that a detector found out about its server, for the report.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Prober is a detector that finds out what its server can do. Facts must be the
// same for every server that the detector asks.
type Prober interface {
	Facts(ctx context.Context) ([]Fact, error)
	// CheckModality fails where Prepare would for every item, before anything is
	// rendered.
	CheckModality(ctx context.Context, m Modality) error
}

// TacticScores are the probabilities of the options, in tactic.Options order.
type TacticScores struct {
	Masses        []vote.Mass `json:"masses"`
	Method        string      `json:"method"`                   // how they were scored
	LowConfidence []string    `json:"low_confidence,omitempty"` // tactics this detector is known to miss
}

// Mass returns the mass of one option.
func (s TacticScores) Mass(t tactic.Tactic) vote.Mass {
	if i := tactic.Index(t); i >= 0 && i < len(s.Masses) {
		return s.Masses[i]
	}
	return vote.Mass{}
}

// Evidence is the words that support a YES.
type Evidence struct {
	Quote string  `json:"quote"`           // "" when the detector gave none
	Start float64 `json:"start,omitempty"` // seconds in the clip, where known
	End   float64 `json:"end,omitempty"`
}

// QuoteRequest asks for evidence; Attempt 1 is the retry after an empty quote.
type QuoteRequest struct {
	Attempt int
	Tactic  tactic.Tactic
}

// Detector judges items. Errors are faults (package fault). Implementations are
// safe for concurrent use.
type Detector interface {
	// Identity says which detector this is; it must not judge anything.
	Identity(ctx context.Context) (Identity, error)
	// Seen returns the items that the detector was trained or tuned on.
	Seen() Seen
	// NeedsTranscript reports whether Prepare reads the recogniser's words.
	NeedsTranscript() bool
	// Prepare does once what an item's passes share; the result is small,
	// stored, and handed back in Item.Prepared.
	Prepare(ctx context.Context, item Item) ([]byte, error)
	// Decide makes one pass.
	Decide(ctx context.Context, item Item, pass Pass) (Decision, error)
	// ScoreTactics scores every option; it doesn't depend on sampling.
	ScoreTactics(ctx context.Context, item Item) (TacticScores, error)
	// Quote returns the evidence for a YES.
	Quote(ctx context.Context, item Item, req QuoteRequest) (Evidence, error)
}
