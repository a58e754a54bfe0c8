package audio

import "io"

// TurnSource is one turn of a dialogue on its way into a clip.
type TurnSource struct {
	Turn     int    // its index in the dialogue, used in errors and in the Timeline
	Speaker  string // turns of one speaker share a gain at LevelSpeaker
	Voice    string
	TextHash string
	Silent   bool // a wordless turn: silence of SilentTurnSeconds, Open is not called

	// Open returns the encoded audio. Compose calls it once, in order, and closes it.
	Open func() (io.ReadCloser, error)
}

// Provenance is written into the clip's INFO chunk, together with synthetic=true.
type Provenance struct {
	Title       string `json:"title"`       // the dialogue (INAM)
	Synthesizer string `json:"synthesizer"` // engine and version (ISRC)
	Software    string `json:"software"`    // what composed the clip (ISFT)
}

// Flag marks a turn whose audio was treated specially.
type Flag string

const (
	FlagSilent      Flag = "silent"       // nothing audible: gain 0 dB, loudness at its floor
	FlagShort       Flag = "short"        // under 0.4 s: loudness measured ungated over all of it
	FlagRepaired    Flag = "repaired"     // the decoder had to repair the file, e.g. wrong sizes in its header
	FlagGainLimited Flag = "gain_limited" // the wanted gain exceeds MaxGainDB
	FlagPeakLimited Flag = "peak_limited" // peaks above the ceiling were turned down for a few milliseconds
)

// Timeline describes a composed clip: where each turn is and how loud everything became.
// Levels are those of the finished clip.
type Timeline struct {
	Synthetic  bool           `json:"synthetic"` // always true
	Rate       int            `json:"rate"`
	Samples    int            `json:"samples"`
	Seconds    float64        `json:"seconds"`
	LUFS       float64        `json:"lufs"`
	TruePeak   float64        `json:"true_peak_dbtp"`
	ClipGainDB float64        `json:"clip_gain_db"` // the part of every turn's gain that is the clip's
	Turns      []TurnSpan     `json:"turns"`
	Speakers   []SpeakerLevel `json:"speakers"` // in order of first appearance
	Options    ComposeOptions `json:"options"`
	Provenance Provenance     `json:"provenance"`
}

// TurnSpan is one turn's place and level in a clip: samples [StartSample, EndSample).
type TurnSpan struct {
	Turn        int      `json:"turn"`
	Speaker     string   `json:"speaker"`
	Voice       string   `json:"voice"`
	Start       float64  `json:"start"` // seconds
	End         float64  `json:"end"`   // seconds
	StartSample int      `json:"start_sample"`
	EndSample   int      `json:"end_sample"`
	LUFS        float64  `json:"lufs"`
	TruePeak    float64  `json:"true_peak_dbtp"`
	GainDB      float64  `json:"gain_db"` // speaker's or turn's gain and the clip's together
	TextHash    string   `json:"text_hash"`
	Flags       []Flag   `json:"flags,omitempty"`
	Warnings    []string `json:"warnings,omitempty"` // the decoder's
}

// SpeakerLevel is the loudness of all turns of one speaker, measured one after the other
// without the gaps.
type SpeakerLevel struct {
	Speaker  string  `json:"speaker"`
	Turns    int     `json:"turns"` // those with audio
	Seconds  float64 `json:"seconds"`
	LUFS     float64 `json:"lufs"`
	TruePeak float64 `json:"true_peak_dbtp"`
	GainDB   float64 `json:"gain_db"`         // the gain of its turns; at LevelTurn their mean
	Flags    []Flag  `json:"flags,omitempty"` // silent, short
}
