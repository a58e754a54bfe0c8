// Package sample holds the dialogues the project wrote for itself: a sample to
// evaluate, a separate text to train the baseline detectors on, and four solved
// examples to show in prompts.
//
// All are original fiction, the first two in MentalManip's CSV columns (ID,
// Dialogue, Manipulative, Technique, Vulnerability); nothing in them is taken from
// a dataset, a film or a real person. The text is dedicated to the public domain
// (CC0 1.0). One author wrote and labelled all of it, before any detector was
// trained, so a score on the sample is a smoke test, not evidence: it says that
// the pipeline works, never that a detector does.
package sample

import (
	"bytes"
	_ "embed"
)

//go:embed sample.csv
var sampleCSV []byte

//go:embed training.csv
var trainingCSV []byte

//go:embed exemplars.jsonl
var exemplarsJSONL []byte

// Dialogues returns the sample as CSV, header first: a few minutes of speech
// that cover every tactic and the shapes of text that break pipelines. The
// caller owns the bytes.
func Dialogues() []byte { return bytes.Clone(sampleCSV) }

// Training returns the training text as CSV, header first. It shares no
// sentence of four words or more with the sample. The caller owns the bytes.
func Training() []byte { return bytes.Clone(trainingCSV) }

// Exemplars returns four solved dialogues for prompts, two NO then two YES, as
// JSON lines with the fields id, verdict, tactic, quote and turns. They share no
// sentence of four words or more with the sample and the training text. The
// caller owns the bytes.
func Exemplars() []byte { return bytes.Clone(exemplarsJSONL) }
