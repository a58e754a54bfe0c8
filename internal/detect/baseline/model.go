package baseline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/speechmanip/speechmanip/internal/prosody"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

// format names the file format; a change that old programs can't read, or that
// changes what the numbers mean, changes it.
const format = "speechmanip-baseline/1"

// MaxModelBytes bounds a model's file.
const MaxModelBytes = 64 << 20

// Model is what the four baselines learned. It doesn't change and is safe for
// concurrent use.
type Model struct {
	data       modelData
	vocabulary vocabulary
	encoded    []byte
}

// modelData is the file. Its field order is the file's order.
type modelData struct {
	Format      string        `json:"format"`
	Dataset     Dataset       `json:"dataset"`
	Parts       Parts         `json:"parts"`
	YesShare    float64       `json:"yes_share"`    // of the training part
	TacticShare []float64     `json:"tactic_share"` // of the options, among manipulative training dialogues
	Words       wordModel     `json:"words"`
	Length      lengthModel   `json:"length"`
	Prosody     *soundModel   `json:"prosody"` // null when trained without clips
	Seen        seenDialogues `json:"seen"`
}

// Dataset says what a model was trained on.
type Dataset struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// wordModel holds the vocabulary and its classifiers. Tactics are in
// tactic.Options order, null where there were too few examples.
type wordModel struct {
	Terms   []string  `json:"terms"`
	IDF     []float64 `json:"idf"`
	YesNo   linear    `json:"yes_no"`
	Platt   platt     `json:"platt"`
	Tactics []*linear `json:"tactics"`

	// LowConfidence names the tactics that were never right on the validation part.
	LowConfidence []string `json:"low_confidence"`
}

type lengthModel struct {
	YesNo          linear  `json:"yes_no"`
	Platt          platt   `json:"platt"`
	WordsPerSecond float64 `json:"words_per_second"`
}

// soundModel is a classifier of standardised features.
type soundModel struct {
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"`
	YesNo     linear    `json:"yes_no"`
	Platt     platt     `json:"platt"`
}

// seenDialogues is the training and the validation part.
type seenDialogues struct {
	IDs        []string `json:"ids"`
	TextHashes []string `json:"text_hashes"`
}

// standard returns the standardised features, clamped so that one odd recording
// can't outweigh everything else.
func (s *soundModel) standard(values [prosody.N]float64) []feature {
	const most = 5
	x := make([]feature, len(values))
	for i, v := range values {
		x[i] = feature{i, min(max((v-s.Mean[i])/s.Deviation[i], -most), most)}
	}
	return x
}

// newModel encodes and indexes data, which must be valid.
func newModel(data modelData) (*Model, error) {
	encoded, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode baseline model: %w", err)
	}
	return &Model{
		data:       data,
		vocabulary: newVocabulary(data.Words.Terms, data.Words.IDF),
		encoded:    append(encoded, '\n'),
	}, nil
}

// Encode returns the model's file: JSON, the same bytes for the same model. The
// caller owns them.
func (m *Model) Encode() []byte { return bytes.Clone(m.encoded) }

// Hash returns the first twelve hex digits of the SHA-256 of Encode.
func (m *Model) Hash() string {
	sum := sha256.Sum256(m.encoded)
	return hex.EncodeToString(sum[:])[:12]
}

// Dataset returns what the model was trained on.
func (m *Model) Dataset() Dataset { return m.data.Dataset }

// Detectors returns the names of the detectors that the model can run.
func (m *Model) Detectors() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return name == Prosody && m.data.Prosody == nil })
}

// Load reads a model's file. The error says what is wrong with it.
func Load(file []byte) (*Model, error) {
	if len(file) > MaxModelBytes {
		return nil, fmt.Errorf("load baseline model: %d bytes, at most %d are allowed", len(file), MaxModelBytes)
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(file, &head); err != nil {
		return nil, fmt.Errorf("load baseline model: %w", err)
	}
	if head.Format != format {
		return nil, fmt.Errorf("load baseline model: format %.40q, this program reads %q: train it again with `starter baseline train`", head.Format, format)
	}
	var data modelData
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&data); err != nil {
		return nil, fmt.Errorf("load baseline model: %w", err)
	}
	if err := data.validate(); err != nil {
		return nil, fmt.Errorf("load baseline model: %w", err)
	}
	return newModel(data)
}

// validate checks everything that judging relies on.
func (d modelData) validate() error {
	terms, options := len(d.Words.Terms), len(tactic.Options())
	switch {
	case terms > maxTerms:
		return fmt.Errorf("%d terms, at most %d are allowed", terms, maxTerms)
	case len(d.Words.IDF) != terms:
		return fmt.Errorf("%d inverse document frequencies for %d terms", len(d.Words.IDF), terms)
	case len(d.Words.Tactics) != options:
		return fmt.Errorf("%d tactic classifiers, want %d", len(d.Words.Tactics), options)
	case len(d.TacticShare) != options:
		return fmt.Errorf("%d tactic shares, want %d", len(d.TacticShare), options)
	case len(d.Seen.IDs) != len(d.Seen.TextHashes):
		return fmt.Errorf("%d seen ids with %d text hashes", len(d.Seen.IDs), len(d.Seen.TextHashes))
	case !(d.YesShare >= 0 && d.YesShare <= 1):
		return fmt.Errorf("a YES share of %v", d.YesShare)
	}
	for i := 1; i < terms; i++ {
		if d.Words.Terms[i-1] >= d.Words.Terms[i] {
			return fmt.Errorf("term %d is out of order", i)
		}
	}
	if err := errors.Join(
		checkPositive("inverse document frequency", d.Words.IDF),
		checkPositive("tactic share", d.TacticShare),
		checkPositive("pace", []float64{d.Length.WordsPerSecond}),
		checkClassifier("words", d.Words.YesNo, d.Words.Platt, terms),
		checkClassifier("length", d.Length.YesNo, d.Length.Platt, 1),
		d.Prosody.validate(),
	); err != nil {
		return err
	}
	for i, l := range d.Words.Tactics {
		if l == nil {
			continue // judged by its share
		}
		if err := checkClassifier(string(tactic.Options()[i]), *l, platt{}, terms); err != nil {
			return err
		}
	}
	for _, name := range d.Words.LowConfidence {
		if _, err := tactic.Parse(name); err != nil {
			return fmt.Errorf("low confidence: %w", err)
		}
	}
	return nil
}

func (s *soundModel) validate() error {
	if s == nil {
		return nil
	}
	if len(s.Mean) != prosody.N || len(s.Deviation) != prosody.N {
		return fmt.Errorf("prosody: %d means and %d deviations, want %d", len(s.Mean), len(s.Deviation), prosody.N)
	}
	for i := range s.Mean {
		if !(math.Abs(s.Mean[i]) < maxNumber) || !(s.Deviation[i] > 0 && s.Deviation[i] < maxNumber) {
			return fmt.Errorf("prosody: feature %d has mean %v and deviation %v", i, s.Mean[i], s.Deviation[i])
		}
	}
	return checkClassifier("prosody", s.YesNo, s.Platt, prosody.N)
}

// maxNumber bounds weights and the like, so that no sum becomes infinite.
const maxNumber = 1e6

func checkPositive(name string, values []float64) error {
	for i, v := range values {
		if !(v > 0 && v < maxNumber) {
			return fmt.Errorf("%s %d is %v", name, i, v)
		}
	}
	return nil
}

func checkClassifier(name string, l linear, p platt, dims int) error {
	if len(l.Weights) != dims {
		return fmt.Errorf("classifier %s: %d weights, want %d", name, len(l.Weights), dims)
	}
	for _, v := range append([]float64{l.Bias, p.Slope, p.Offset}, l.Weights...) {
		if !(math.Abs(v) < maxNumber) {
			return fmt.Errorf("classifier %s: a number of %v", name, v)
		}
	}
	return nil
}
