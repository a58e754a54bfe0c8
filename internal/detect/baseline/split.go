package baseline

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Parts counts the dialogues of each part.
type Parts struct {
	Train      int `json:"train"`
	Valid      int `json:"valid"`
	Test       int `json:"test"`
	HeldOut    int `json:"held_out"`
	Unlabelled int `json:"unlabelled"` // without a truth: in no part
}

// split is the dataset by part, each in the order of ids.
type split struct {
	train, valid, test, heldOut []dialogue.Dialogue
	unlabelled                  int
}

// divide splits by id alone, so that a dialogue stays in its part whatever else
// the dataset holds: about 70 in 100 train, 10 validate, 20 test. Held-out
// dialogues are in none of these.
func divide(dialogues []dialogue.Dialogue, heldOut []string) (split, error) {
	held := map[string]bool{}
	for _, id := range heldOut {
		held[strings.TrimSuffix(strings.TrimSpace(id), ".0")] = true
	}
	sorted := slices.SortedStableFunc(slices.Values(dialogues), func(a, b dialogue.Dialogue) int { return cmp.Compare(a.ID, b.ID) })
	var s split
	for i, d := range sorted {
		if i > 0 && d.ID == sorted[i-1].ID {
			return split{}, fmt.Errorf("the dataset has two dialogues with the id %q", d.ID)
		}
		percent := percentOf(d.ID)
		switch {
		case d.Truth == dialogue.Unknown:
			s.unlabelled++
		case held[d.ID]:
			s.heldOut = append(s.heldOut, d)
		case percent < 70:
			s.train = append(s.train, d)
		case percent < 80:
			s.valid = append(s.valid, d)
		default:
			s.test = append(s.test, d)
		}
	}
	return s, nil
}

// percentOf spreads ids over 0 to 99.
func percentOf(id string) uint32 {
	sum := sha256.Sum256([]byte("smm-split-v1:" + id))
	return binary.BigEndian.Uint32(sum[:4]) % 100
}

func (s split) counts() Parts {
	return Parts{len(s.train), len(s.valid), len(s.test), len(s.heldOut), s.unlabelled}
}

// seen returns the training and the validation part, in the order of ids.
func (s split) seen() seenDialogues {
	seen := seenDialogues{IDs: []string{}, TextHashes: []string{}}
	for _, d := range slices.Concat(s.train, s.valid) {
		seen.IDs = append(seen.IDs, d.ID)
		seen.TextHashes = append(seen.TextHashes, d.TextHash())
	}
	return seen
}

// ReadIDs reads ids to hold out: the column ID of a CSV, or one id a line when
// the first line has no such column. Repeated ids come once.
func ReadIDs(r io.Reader) ([]string, error) {
	reader := csv.NewReader(r)
	reader.FieldsPerRecord = -1
	reader.LazyQuotes = true
	var ids []string
	seen := map[string]bool{}
	column := 0
	for first := true; ; first = false {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return ids, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read ids: %w", err)
		}
		if first {
			record[0] = strings.TrimPrefix(record[0], "\ufeff")
			at := slices.IndexFunc(record, func(name string) bool { return strings.EqualFold(strings.TrimSpace(name), "ID") })
			if at >= 0 {
				column = at
				continue
			}
		}
		if column >= len(record) {
			continue
		}
		id := strings.TrimSuffix(strings.TrimSpace(record[column]), ".0")
		if id != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
}
