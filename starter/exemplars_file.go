package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// maxExemplarBytes bounds a file of exemplars.
const maxExemplarBytes = 16 << 20

// exemplarLine is one line of a file of exemplars: a solved dialogue, or the
// solution of one that the dataset has.
type exemplarLine struct {
	vote.Exemplar
	dialogue *dialogue.Dialogue // nil: the dataset has it
	line     int
}

// parseExemplars reads JSON lines with the fields id, verdict (YES or NO), tactic,
// quote and, for a dialogue that isn't in the dataset, turns or dialogue as in a
// dataset's JSON lines. Blank lines are skipped. The error names every line that
// can't be used, and what to do.
func parseExemplars(name string, r io.Reader) ([]exemplarLine, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxExemplarBytes+1))
	if err != nil {
		return nil, fmt.Errorf("exemplars %s: %w", name, err)
	}
	if len(data) > maxExemplarBytes {
		return nil, fmt.Errorf("exemplars %s: more than %d bytes: keep the few dialogues that the prompt shows", name, maxExemplarBytes)
	}
	var all []exemplarLine
	var errs []error
	first := map[string]int{}
	number := 0
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) {
		number++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		e, err := parseExemplar(text)
		if before := first[e.ID]; err == nil && before > 0 {
			err = fmt.Errorf("%q is in line %d too: keep one of them", e.ID, before)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("exemplars %s, line %d: %w", name, number, err))
			continue
		}
		e.line, first[e.ID] = number, number
		all = append(all, e)
	}
	if len(all) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("exemplars %s: the file is empty: write one JSON object a line", name))
	}
	return all, errors.Join(errs...)
}

func parseExemplar(text []byte) (exemplarLine, error) {
	var fields struct {
		ID       string          `json:"id"`
		Verdict  string          `json:"verdict"`
		Tactic   string          `json:"tactic"`
		Quote    string          `json:"quote"`
		Turns    json.RawMessage `json:"turns"`
		Dialogue json.RawMessage `json:"dialogue"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&fields); err != nil {
		return exemplarLine{}, fmt.Errorf("%s: write one JSON object with the fields id, verdict, tactic, quote and, where the dataset doesn't have it, turns or dialogue", printable(err.Error()))
	}
	if decoder.More() {
		return exemplarLine{}, errors.New("something follows the object: write one object a line")
	}
	e := exemplarLine{Exemplar: vote.Exemplar{ID: fields.ID, Vote: vote.Vote(fields.Verdict), Quote: strings.TrimSpace(fields.Quote)}}
	if e.Vote != vote.VoteYes && e.Vote != vote.VoteNo {
		return e, fmt.Errorf("verdict is %q: write YES or NO", fields.Verdict)
	}
	if fields.Tactic != "" {
		var err error
		if e.Tactic, err = tactic.Parse(fields.Tactic); err != nil {
			return e, fmt.Errorf("%w: write one of %q", err, tactic.Options())
		}
	}
	if e.Vote == vote.VoteNo && (e.Quote != "" || e.Tactic != "" && e.Tactic != tactic.None) {
		return e, errors.New("a NO shows no manipulation: leave its quote out, and its tactic too or write none")
	}
	own := map[string]any{"id": fields.ID}
	if fields.Turns != nil {
		own["turns"] = fields.Turns
	}
	if fields.Dialogue != nil {
		own["dialogue"] = fields.Dialogue
	}
	if len(own) == 1 { // the dataset has its turns: only the id is read
		own["dialogue"] = "A: word"
	}
	line, err := json.Marshal(own)
	if err != nil {
		return e, err // RawMessages of valid JSON: can't be
	}
	d, err := dialogue.ParseLine(line)
	if err != nil {
		return e, fmt.Errorf("%w: correct it; id, turns and dialogue are as in a dataset's JSON lines", err)
	}
	e.ID = d.ID
	if fields.Turns == nil && fields.Dialogue == nil {
		return e, nil
	}
	d.Truth = dialogue.Truth(e.Vote)
	e.dialogue = &d
	return e, nil
}
