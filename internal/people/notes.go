package people

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// MaxNote is the longest note, in bytes.
const MaxNote = 4000

// Note is what an annotator wrote about an item. It may hold anything.
type Note struct {
	Pseudonym string
	Modality  annotation.Modality
	Item      int // the study's number of it
	Text      string
	Time      time.Time
}

type storedNote struct {
	Modality annotation.Modality `json:"modality"`
	Item     int                 `json:"item"`
	Text     []byte              `json:"text"` // sealed
	Time     time.Time           `json:"time"`
}

func notesPrefix(study, pseudonym string) string {
	return studyPrefix(study) + "notes/" + evaluation.EncodeID(pseudonym) + "/"
}

func notePart(m annotation.Modality, item int) string { return fmt.Sprintf("%s-%05d", m, item) }

// PutNote keeps an annotator's note on an item, sealed with their key, in place of the
// one before; an empty text deletes it.
func (r Registry) PutNote(ctx context.Context, study string, n Note) error {
	if _, err := annotation.ParseModality(string(n.Modality)); err != nil {
		return err
	}
	if len(n.Text) > MaxNote || !utf8.ValidString(n.Text) {
		return fmt.Errorf("a note has %d bytes: at most %d of UTF-8 are allowed", len(n.Text), MaxNote)
	}
	part := notePart(n.Modality, n.Item)
	at := notesPrefix(study, n.Pseudonym) + part + ".json"
	if n.Text == "" {
		return r.Store.Delete(ctx, at)
	}
	key, err := r.key(ctx, study, n.Pseudonym)
	if err != nil {
		return err
	}
	sealed := key.seal([]byte(n.Text), noteOf(study, n.Pseudonym, part))
	return put(ctx, r.Store, at, storedNote{Modality: n.Modality, Item: n.Item, Text: sealed, Time: r.Now().UTC()})
}

// Note returns an annotator's note on an item; its text is empty where there is none.
func (r Registry) Note(ctx context.Context, study, pseudonym string, m annotation.Modality, item int) (Note, error) {
	part := notePart(m, item)
	n := Note{Pseudonym: pseudonym, Modality: m, Item: item}
	stored, err := get[storedNote](ctx, r.Store, notesPrefix(study, pseudonym)+part+".json")
	if errors.Is(err, objectstore.ErrNotFound) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	text, err := r.open(ctx, study, pseudonym, stored.Text, noteOf(study, pseudonym, part))
	n.Text, n.Time = string(text), stored.Time
	return n, err
}

// Notes returns all notes of an annotator, in the order of their keys.
func (r Registry) Notes(ctx context.Context, study, pseudonym string) ([]Note, error) {
	var all []Note
	for entry, err := range r.Store.List(ctx, notesPrefix(study, pseudonym)) {
		if err != nil {
			return nil, err
		}
		stored, err := get[storedNote](ctx, r.Store, entry.Key)
		if err != nil {
			return nil, err
		}
		n, err := r.Note(ctx, study, pseudonym, stored.Modality, stored.Item)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}
