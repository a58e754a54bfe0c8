package evaluation

import (
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Record is everything that an evaluation found out about one dialogue. It is
// stored once, at the dialogue's end; reports are built from records alone.
type Record struct {
	Evaluation string `json:"evaluation"`
	ID         string `json:"id"`
	// CastingNumber is the item's.
	CastingNumber int `json:"casting_number,omitempty"`

	Truth    dialogue.Truth  `json:"truth,omitempty"`
	Tactics  []tactic.Tactic `json:"tactics,omitempty"` // as annotated
	TextHash string          `json:"text_hash"`
	Turns    int             `json:"turns"`
	Wordless int             `json:"wordless,omitempty"`

	Failure *Failure `json:"failure,omitempty"` // set when the dialogue has no verdict

	Casting     voice.Casting   `json:"casting,omitempty"`
	Clip        objectstore.Ref `json:"clip,omitzero"`
	Timeline    objectstore.Ref `json:"timeline,omitzero"`
	ClipSeconds float64         `json:"clip_seconds,omitempty"`
	Transcript  objectstore.Ref `json:"transcript,omitzero"`
	Quality     *ClipQuality    `json:"quality,omitempty"`

	Judgement            // in the evaluation's modality; of Both, the clip's
	Text      *Judgement `json:"text,omitempty"` // of Both, the turns' as written

	Usage Usage `json:"usage"`
}

// Judgement is what the detector said of a dialogue in one modality.
type Judgement struct {
	Passes   []PassRecord         `json:"passes,omitempty"`
	Analytic *AnalyticRecord      `json:"analytic,omitempty"` // in place of Passes, under vote.VotesAnalytic
	Swapped  *SwappedRecord       `json:"swapped,omitempty"`  // under OrderBoth
	Verdict  vote.Outcome         `json:"verdict,omitzero"`   // of both orders, under OrderBoth
	Tactic   *vote.TacticOutcome  `json:"tactic,omitempty"`   // for YES
	Scores   *detect.TacticScores `json:"scores,omitempty"`   // behind Tactic
	Evidence *EvidenceRecord      `json:"evidence,omitempty"`
}

// SwappedRecord is the same question with the option letters exchanged. Straight
// is what the letters in their usual order decide alone.
type SwappedRecord struct {
	Straight vote.Outcome    `json:"straight"`
	Passes   []PassRecord    `json:"passes,omitempty"`
	Analytic *AnalyticRecord `json:"analytic,omitempty"`
	Verdict  vote.Outcome    `json:"verdict"`
}

// AnalyticRecord is the distribution that sampled passes would be drawn from.
type AnalyticRecord struct {
	Choice   detect.Choice   `json:"choice"`
	Majority vote.Nano       `json:"majority"` // the probability that most of the passes would say YES
	Ref      objectstore.Ref `json:"ref"`
}

// Failure names what stopped a dialogue for good.
type Failure struct {
	Stage   string `json:"stage"` // e.g. "synthesise turn 3"
	Code    string `json:"code"`  // short and machine-readable
	Message string `json:"message"`
}

// PassRecord is one pass, with the probability behind its vote.
type PassRecord struct {
	vote.Pass
	Seed int64           `json:"seed"`
	PYes vote.Mass       `json:"p_yes"`
	Ref  objectstore.Ref `json:"ref"`
}

// EvidenceRecord is the quote for a YES.
type EvidenceRecord struct {
	vote.Quote
	Start    float64 `json:"start,omitempty"` // seconds in the clip, where known
	End      float64 `json:"end,omitempty"`
	Attempts int     `json:"attempts"`
	Occurs   *bool   `json:"occurs,omitempty"` // of a text that was shown: whether the quote's words stand in it
}

// ClipQuality is how well a clip carries its text.
type ClipQuality struct {
	WER       float64     `json:"wer"`         // of the recogniser against the turns' words
	WERIsSet  bool        `json:"wer_defined"` // false when the text has no words
	Reference int         `json:"reference_words"`
	Turns     []TurnPitch `json:"turns,omitempty"` // with audio and enough voiced speech
}

// TurnPitch is the median F0 of one turn.
type TurnPitch struct {
	Turn  int     `json:"turn"`
	Voice string  `json:"voice"`
	F0    float64 `json:"f0"` // Hz
}

// StoredPass is the object under a PassKey.
type StoredPass struct {
	Question Question        `json:"question"`
	Pass     vote.Pass       `json:"pass"`
	Seed     int64           `json:"seed"`
	Sampling vote.Sampling   `json:"sampling"`
	Decision detect.Decision `json:"decision"`
}

// StoredChoice is the object under a ChoiceKey.
type StoredChoice struct {
	Question Question      `json:"question"`
	Sampling vote.Sampling `json:"sampling"`
	Choice   detect.Choice `json:"choice"`
}

// StoredTactics is the object under a TacticsKey.
type StoredTactics struct {
	Question Question            `json:"question"`
	Scores   detect.TacticScores `json:"scores"`
}

// StoredQuote is the object under a QuoteKey.
type StoredQuote struct {
	Question Question            `json:"question"`
	Request  detect.QuoteRequest `json:"request"`
	Evidence detect.Evidence     `json:"evidence"`
}

// Usage counts what was done and what the store already had.
type Usage struct {
	TurnsMade        int `json:"turns_made"`
	TurnsStored      int `json:"turns_stored"`
	Characters       int `json:"characters"` // sent to the synthesizer
	ClipsMade        int `json:"clips_made"`
	ClipsStored      int `json:"clips_stored"`
	Recognized       int `json:"recognized"`
	RecognizedStored int `json:"recognized_stored"`
	PassesMade       int `json:"passes_made"` // decisions, tactic scorings and quotes
	PassesStored     int `json:"passes_stored"`
	Questions        int `json:"questions,omitempty"` // requests to the detector; an answer may take several
	Credits          int `json:"credits,omitempty"`   // what the synthesizer says it billed
}

// Add adds other to u.
func (u *Usage) Add(other Usage) {
	u.TurnsMade += other.TurnsMade
	u.TurnsStored += other.TurnsStored
	u.Characters += other.Characters
	u.ClipsMade += other.ClipsMade
	u.ClipsStored += other.ClipsStored
	u.Recognized += other.Recognized
	u.RecognizedStored += other.RecognizedStored
	u.PassesMade += other.PassesMade
	u.PassesStored += other.PassesStored
	u.Questions += other.Questions
	u.Credits += other.Credits
}
