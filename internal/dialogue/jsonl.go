package dialogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// maxLineBytes bounds a JSON line: its escapes may take six bytes a character.
const maxLineBytes = 8 << 20

// The fields of a JSON line.
const (
	fieldID           = "id"
	fieldTurns        = "turns"
	fieldDialogue     = "dialogue"
	fieldTruth        = "truth"
	fieldManipulative = "manipulative"
	fieldTactics      = "tactics"
)

var knownFields = []string{fieldID, fieldTurns, fieldDialogue, fieldTruth, fieldManipulative, fieldTactics}

// ReadJSONL reads one dialogue a line, each a JSON object with
//
//	id            a string or a whole number
//	turns         [{"speaker": "Person1", "text": "..."}, ...], or instead
//	dialogue      "Person1: ...\nPerson2: ..."
//	truth         "YES" or "NO", or instead
//	manipulative  1, 0, true or false; without either the truth is unknown
//	tactics       ["Accusation", ...]; may be left out
//
// Blank lines are skipped. Another field is ignored and reported once, at the
// first line that has it. A line that breaks a rule is a problem in the
// validation, as in ReadCSV; the error is for a file whose first line is no JSON
// object, or that can't be read.
func ReadJSONL(r io.Reader) (Dataset, error) {
	data, err := load(r)
	if err != nil {
		return Dataset{}, err
	}
	return readJSONL(data)
}

func readJSONL(data []byte) (Dataset, error) {
	b := newBuilder()
	reported := map[string]bool{}
	number, line := 0, 0
	for text := range bytes.Lines(data) {
		line++
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		number++
		if number == 1 && text[0] != '{' {
			return Dataset{}, fmt.Errorf("read JSONL: line %d is no JSON object: %s (one object a line is needed)", line, quote(string(text)))
		}
		r, unknown := jsonRow(number, line, text)
		for _, field := range unknown {
			if !reported[field] {
				reported[field] = true
				r.note(UnknownField, "the field %s is ignored, here and below", quote(field))
			}
		}
		b.add(r)
	}
	if number == 0 {
		return Dataset{}, errors.New("read JSONL: the file is empty")
	}
	return b.finish(), nil
}

// ParseLine reads one line of the JSONL form. The error says why it can't be
// used; lesser problems pass.
func ParseLine(line []byte) (Dialogue, error) {
	r, _ := jsonRow(1, 1, line)
	for _, p := range r.problems {
		if p.Fatal {
			return Dialogue{}, fmt.Errorf("parse dialogue %q: %s: %s", r.dialogue.ID, p.Kind, p.Detail)
		}
	}
	return r.dialogue, nil
}

// jsonRow reads one line and names the fields that mean nothing.
func jsonRow(number, line int, text []byte) (r *row, unknown []string) {
	r = &row{number: number, line: line}
	if len(text) > maxLineBytes {
		r.fatal(TooLarge, "the line has %d bytes; at most %d are allowed", len(text), maxLineBytes)
		return r, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		r.fatal(BadJSON, "the line is no JSON object: %v", err)
		return r, nil
	}
	r.setID(jsonID(fields[fieldID]))
	r.setJSONTurns(fields)
	r.setJSONTruth(fields)
	var tactics []string
	if r.decode(fields, fieldTactics, &tactics) {
		r.setTactics(tactics)
	}
	r.finish()

	maps.DeleteFunc(fields, func(field string, _ json.RawMessage) bool { return slices.Contains(knownFields, field) })
	return r, slices.Sorted(maps.Keys(fields))
}

// jsonID returns the text of a string or a number, "" for anything else.
func jsonID(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		return number.String()
	}
	return ""
}

func (r *row) setJSONTurns(fields map[string]json.RawMessage) {
	var turns []Turn
	var text string
	before := len(r.problems)
	hasTurns, hasText := r.decode(fields, fieldTurns, &turns), r.decode(fields, fieldDialogue, &text)
	switch {
	case hasTurns && hasText:
		r.fatal(BadField, "give %s or %s, not both", fieldTurns, fieldDialogue)
	case hasTurns:
		r.setTurns(turns)
	case hasText:
		r.setText(text)
	case len(r.problems) == before: // neither is there
		r.checkTurns()
	}
}

func (r *row) setJSONTruth(fields map[string]json.RawMessage) {
	var truth string
	hasTruth, manipulative := r.decode(fields, fieldTruth, &truth), string(fields[fieldManipulative])
	var err error
	switch {
	case hasTruth && manipulative != "":
		r.fatal(BadField, "give %s or %s, not both", fieldTruth, fieldManipulative)
	case hasTruth:
		r.dialogue.Truth, err = ParseTruth(truth)
	case manipulative == "true":
		r.dialogue.Truth = Yes
	case manipulative == "false":
		r.dialogue.Truth = No
	case manipulative != "" && manipulative != "null":
		r.dialogue.Truth, err = parseManipulative(manipulative)
	}
	if err != nil {
		r.fatal(BadTruth, "%v", err)
	}
}

// decode reports whether the field is there and of target's type; null counts
// as not there, another type as a problem.
func (r *row) decode(fields map[string]json.RawMessage, field string, target any) bool {
	raw, ok := fields[field]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, target); err != nil {
		r.fatal(BadField, "the field %s: %v", field, err)
		return false
	}
	return true
}

// Marshal returns the canonical line of d, without the line feed: the fields
// id, turns, truth and tactics in this order. ParseLine reads it back.
func Marshal(d Dialogue) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		return nil, fmt.Errorf("write dialogue %q: %w", d.ID, err)
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), nil
}

// WriteJSONL writes the canonical line of each dialogue, each with a line feed.
func WriteJSONL(w io.Writer, dialogues []Dialogue) error {
	for _, d := range dialogues {
		line, err := Marshal(d)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write dialogue %q: %w", d.ID, err)
		}
	}
	return nil
}
