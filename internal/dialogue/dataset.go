package dialogue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Limits on what comes from outside. A row beyond them can't be used; a file
// beyond its limit is refused as a whole.
const (
	MaxFileBytes     = 256 << 20 // of a dataset file
	MaxDialogueBytes = 1 << 20   // of a dialogue's speakers and texts
	MaxTurns         = 500       // of a dialogue
	MaxTactics       = 50        // named by a dialogue, known or not
	MaxIDBytes       = 200       // of an id: it becomes part of workflow ids and keys
	MaxLabelBytes    = 200       // of a speaker's label
)

// Dataset is what could be read of a file: the usable dialogues in the file's
// order, and the findings about all of it.
type Dataset struct {
	Dialogues  []Dialogue
	Validation Validation
}

// Read reads a dataset in the form that name's extension says: .csv, .jsonl or
// .ndjson. With another extension the content decides: JSONL begins with "{".
// The errors are those of ReadCSV and ReadJSONL.
func Read(name string, r io.Reader) (Dataset, error) {
	data, err := load(r)
	if err != nil {
		return Dataset{}, err
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".csv":
		return readCSV(data)
	case ".jsonl", ".ndjson":
		return readJSONL(data)
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return readJSONL(data)
	}
	return readCSV(data)
}

// load reads a whole file without its byte order mark.
func load(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFileBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read dataset: %w", err)
	case len(data) > MaxFileBytes:
		return nil, fmt.Errorf("read dataset: larger than %d MiB: split it", MaxFileBytes>>20)
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, errors.New("read dataset: the file is UTF-16: save it as UTF-8")
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// builder gathers rows into a Dataset.
type builder struct {
	dataset Dataset
	rowOf   map[string]int      // id -> the row that has it
	sameAs  map[string][]string // text hash -> ids
	hashes  []string            // in order of first appearance
}

func newBuilder() *builder {
	return &builder{
		dataset: Dataset{Validation: newValidation()},
		rowOf:   map[string]int{},
		sameAs:  map[string][]string{},
	}
}

// add takes a finished row. The first row with an id keeps it, usable or not.
func (b *builder) add(r *row) {
	d := r.dialogue
	if first, taken := b.rowOf[d.ID]; taken && d.ID != "" {
		r.fatal(DuplicateID, "row %d has this id already; the first one counts", first)
	} else {
		b.rowOf[d.ID] = r.number
	}
	v := &b.dataset.Validation
	v.Problems = append(v.Problems, r.problems...)
	if r.unusable() {
		return
	}
	b.dataset.Dialogues = append(b.dataset.Dialogues, d)
	v.count(d)
	hash := d.TextHash()
	if b.sameAs[hash] == nil {
		b.hashes = append(b.hashes, hash)
	}
	b.sameAs[hash] = append(b.sameAs[hash], d.ID)
}

func (b *builder) finish() Dataset {
	for _, hash := range b.hashes {
		if ids := b.sameAs[hash]; len(ids) > 1 {
			b.dataset.Validation.Duplicates = append(b.dataset.Validation.Duplicates, ids)
		}
	}
	return b.dataset
}
