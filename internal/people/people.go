// Package people keeps who the annotators of a study are, apart from what they judge:
// their names under pseudonyms, the links that let them in, what they have consented
// to, and their notes. All of it lies in the object store, none in Temporal.
//
// What could tell who somebody is, is sealed with a key of that person's own. Erase
// destroys the key: then also a copy of the store says nothing.
package people

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Registry is the people of all studies in one store.
type Registry struct {
	Store objectstore.Store
	Now   func() time.Time
}

// Person is an annotator.
type Person struct {
	Pseudonym string
	Contact   string // a name or an address, as the study's leader wrote it
	Added     time.Time
	Linked    bool // has a link that is not revoked
}

// person is a Person as it is stored.
type person struct {
	Contact []byte    `json:"contact"` // sealed
	Added   time.Time `json:"added"`
	Link    string    `json:"link,omitempty"` // the hash of their link's token
}

// MaxContact is the longest contact, in bytes.
const MaxContact = 200

func studyPrefix(study string) string { return "people/studies/" + evaluation.EncodeID(study) + "/" }

func personKey(study, pseudonym string) string {
	return studyPrefix(study) + "persons/" + evaluation.EncodeID(pseudonym) + ".json"
}

// CheckContact returns why a line is no contact.
func CheckContact(contact string) error {
	switch {
	case contact == "":
		return errors.New("a contact is empty")
	case len(contact) > MaxContact:
		return fmt.Errorf("a contact has %d bytes, at most %d are allowed", len(contact), MaxContact)
	case !utf8.ValidString(contact), strings.ContainsFunc(contact, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("contact %q has characters that can't be printed", contact)
	}
	return nil
}

// Add gives each contact a pseudonym of the study and a key. Which contact gets which
// pseudonym is drawn, so that none follows from the order of the list.
func (r Registry) Add(ctx context.Context, study string, contacts []string) ([]Person, error) {
	for _, contact := range contacts {
		if err := CheckContact(contact); err != nil {
			return nil, err
		}
	}
	next, err := r.nextNumber(ctx, study)
	if err != nil {
		return nil, err
	}
	drawn := slices.Clone(contacts)
	for i := len(drawn) - 1; i > 0; i-- {
		j, err := rand.Int(rand.Reader, big.NewInt(int64(i+1)))
		if err != nil {
			return nil, err
		}
		drawn[i], drawn[j.Int64()] = drawn[j.Int64()], drawn[i]
	}
	var added []Person
	for i, contact := range drawn {
		p := Person{Pseudonym: fmt.Sprintf("A%02d", next+i), Contact: contact, Added: r.Now().UTC()}
		if err := r.create(ctx, study, p); err != nil {
			return added, fmt.Errorf("add annotator %s: %w", p.Pseudonym, err)
		}
		added = append(added, p)
	}
	return added, nil
}

func (r Registry) create(ctx context.Context, study string, p Person) error {
	key, err := r.newKey(ctx, study, p.Pseudonym)
	if err != nil {
		return err
	}
	stored := person{Contact: key.seal([]byte(p.Contact), contactOf(study, p.Pseudonym)), Added: p.Added}
	_, err = objectstore.PutJSON(ctx, r.Store, personKey(study, p.Pseudonym), stored, objectstore.PutOptions{IfAbsent: true})
	return err
}

var pseudonymPattern = regexp.MustCompile(`^A([0-9]{2,4})$`)

// nextNumber is beyond all pseudonyms that were ever given, also to those erased.
func (r Registry) nextNumber(ctx context.Context, study string) (int, error) {
	next := 1
	for _, prefix := range []string{"persons/", "erased/"} {
		names, err := r.names(ctx, studyPrefix(study)+prefix)
		if err != nil {
			return 0, err
		}
		for _, name := range names {
			if m := pseudonymPattern.FindStringSubmatch(name); m != nil {
				n, _ := strconv.Atoi(m[1]) // it is digits
				next = max(next, n+1)
			}
		}
	}
	return next, nil
}

// names lists what lies right below a prefix, without .json.
func (r Registry) names(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	for entry, err := range r.Store.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(entry.Key, prefix), ".json"))
	}
	return names, nil
}

// List returns the annotators of a study by pseudonym, those erased left out.
func (r Registry) List(ctx context.Context, study string) ([]Person, error) {
	pseudonyms, err := r.names(ctx, studyPrefix(study)+"persons/")
	if err != nil {
		return nil, err
	}
	erased, err := r.Erased(ctx, study)
	if err != nil {
		return nil, err
	}
	var all []Person
	for _, pseudonym := range pseudonyms {
		if slices.Contains(erased, pseudonym) {
			continue
		}
		stored, err := get[person](ctx, r.Store, personKey(study, pseudonym))
		if err != nil {
			return nil, err
		}
		contact, err := r.open(ctx, study, pseudonym, stored.Contact, contactOf(study, pseudonym))
		if err != nil {
			return nil, err
		}
		all = append(all, Person{Pseudonym: pseudonym, Contact: string(contact), Added: stored.Added, Linked: stored.Link != ""})
	}
	return all, nil
}

// Erase destroys an annotator's key, name, link and notes. That they were there, and
// what they consented to, is kept under their pseudonym, which nothing leads back from.
// It may be repeated; a store that keeps old versions of objects has to be told to
// forget them.
func (r Registry) Erase(ctx context.Context, study, pseudonym string) error {
	// First: from now on nothing of them is exported, whatever breaks off below.
	if _, err := objectstore.PutJSON(ctx, r.Store, erasedKey(study, pseudonym), struct{}{}, objectstore.PutOptions{IfAbsent: true}); err != nil {
		return err
	}
	if err := r.Store.Delete(ctx, keyKey(study, pseudonym)); err != nil {
		return err
	}
	if err := r.Revoke(ctx, study, pseudonym); err != nil && !errors.Is(err, objectstore.ErrNotFound) {
		return err
	}
	notes := notesPrefix(study, pseudonym)
	for entry, err := range r.Store.List(ctx, notes) {
		if err != nil {
			return err
		}
		if err := r.Store.Delete(ctx, entry.Key); err != nil {
			return err
		}
	}
	return r.Store.Delete(ctx, personKey(study, pseudonym))
}

func erasedKey(study, pseudonym string) string {
	return studyPrefix(study) + "erased/" + evaluation.EncodeID(pseudonym) + ".json"
}

// Erased returns the pseudonyms that were erased: nothing of theirs may be exported.
func (r Registry) Erased(ctx context.Context, study string) ([]string, error) {
	return r.names(ctx, studyPrefix(study)+"erased/")
}

func get[T any](ctx context.Context, store objectstore.Store, key string) (T, error) {
	return objectstore.GetJSON[T](ctx, store, objectstore.Ref{Key: key})
}

func put(ctx context.Context, store objectstore.Store, key string, value any) error {
	_, err := objectstore.PutJSON(ctx, store, key, value, objectstore.PutOptions{})
	return err
}
