package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/people"
)

// register gives the annotators their pseudonyms. Those of a create that broke off are
// taken again where the list is the same.
func register(ctx context.Context, registry people.Registry, id string, contacts []string) ([]string, error) {
	persons, err := registry.List(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(persons) == 0 {
		if persons, err = registry.Add(ctx, id, contacts); err != nil {
			return nil, err
		}
	}
	var names, known []string
	for _, p := range persons {
		names, known = append(names, p.Pseudonym), append(known, p.Contact)
	}
	slices.Sort(known)
	if sorted := slices.Sorted(slices.Values(contacts)); !slices.Equal(known, sorted) {
		return nil, fmt.Errorf("a study %q was begun with other annotators: choose another --id", id)
	}
	return names, nil
}

// readContacts reads a name or address a line; blank lines and those with # are none.
func (a *app) readContacts(path string) ([]string, error) {
	text, err := a.readText(path)
	if err != nil {
		return nil, err
	}
	var contacts []string
	for line := range strings.Lines(text) {
		contact := strings.TrimSpace(line)
		if contact == "" || strings.HasPrefix(contact, "#") {
			continue
		}
		if err := people.CheckContact(contact); err != nil {
			return nil, fmt.Errorf("%s: %w", datasetName(path), err)
		}
		if slices.Contains(contacts, contact) {
			return nil, fmt.Errorf("%s: %q is there more than once", datasetName(path), contact)
		}
		contacts = append(contacts, contact)
	}
	if len(contacts) == 0 || len(contacts) > annotation.MaxAnnotators {
		return nil, fmt.Errorf("%s has %d annotators: use 1 to %d", datasetName(path), len(contacts), annotation.MaxAnnotators)
	}
	return contacts, nil
}

// maxText is the longest text that a study is given, in bytes: guidelines, the consent
// text, the list of people.
const maxText = 64 << 10

// readText reads a file of text, or standard input for "-"; "" is no file.
func (a *app) readText(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	in, err := a.openInput(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxText+1))
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%s has more than %d bytes", datasetName(path), maxText)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), err
}
