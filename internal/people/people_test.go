package people_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/secret"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func registry() people.Registry {
	return people.Registry{Store: mem.New(), Now: func() time.Time { return noon }}
}

func add(t *testing.T, r people.Registry, contacts ...string) []people.Person {
	t.Helper()
	added, err := r.Add(t.Context(), "s", contacts)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

// all returns everything that is stored.
func all(t *testing.T, store objectstore.Store) string {
	t.Helper()
	var text bytes.Buffer
	for entry, err := range store.List(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		data, err := objectstore.Bytes(t.Context(), store, objectstore.Ref{Key: entry.Key})
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(entry.Key + "\n" + string(data) + "\n")
	}
	return text.String()
}

func TestAdd(t *testing.T) {
	r := registry()
	added := add(t, r, "ann@example.org", "bo@example.org", "cy@example.org")
	listed, err := r.List(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(added, listed); diff != "" || len(listed) != 3 || listed[0].Pseudonym != "A01" {
		t.Errorf("added and listed differ:\n%s", diff)
	}
	if strings.Contains(all(t, r.Store), "example.org") {
		t.Error("a contact is stored in the clear")
	}
	if later := add(t, r, "di@example.org"); later[0].Pseudonym != "A04" {
		t.Errorf("the fourth is %s", later[0].Pseudonym)
	}
	for _, contact := range []string{"", strings.Repeat("x", people.MaxContact+1), "a\x1b[31m", "\xff"} {
		if _, err := r.Add(t.Context(), "s", []string{contact}); err == nil {
			t.Errorf("contact %q is taken", contact)
		}
	}
	if other, err := r.List(t.Context(), "t"); err != nil || len(other) != 0 {
		t.Errorf("another study has %v, %v", other, err)
	}
}

// Pseudonyms don't follow the list's order: of 200 people, hardly all stay in place.
func TestPseudonymsAreDrawn(t *testing.T) {
	var contacts []string
	for i := range 200 {
		contacts = append(contacts, strings.Repeat("x", i+1))
	}
	var got []string
	for _, p := range add(t, registry(), contacts...) {
		got = append(got, p.Contact)
	}
	if slices.Equal(contacts, got) {
		t.Error("pseudonyms follow the order of the list")
	}
}

func TestLinks(t *testing.T) {
	r := registry()
	add(t, r, "ann")
	first, err := r.NewLink(t.Context(), "s", "A01")
	if err != nil {
		t.Fatal(err)
	}
	want := people.Link{Study: "s", Pseudonym: "A01", Created: noon}
	if link, err := r.Find(t.Context(), first); err != nil || link != want {
		t.Errorf("%+v, %v", link, err)
	}
	if strings.Contains(all(t, r.Store), string(first)) {
		t.Error("a token is stored")
	}
	second, err := r.NewLink(t.Context(), "s", "A01")
	if err != nil {
		t.Fatal(err)
	}
	leader, err := r.NewLeaderLink(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if link, err := r.Find(t.Context(), leader); err != nil || !link.Leader || link.Pseudonym != "" {
		t.Errorf("the leader is %+v, %v", link, err)
	}
	if err := r.Revoke(t.Context(), "s", "A01"); err != nil {
		t.Fatal(err)
	}
	if err := r.RevokeLeader(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	for _, token := range []secret.Text{first, second, leader, "", "x", "../../people/links", secret.Text(strings.Repeat("A", 26)), secret.Text(strings.Repeat("A", 1000))} {
		if _, err := r.Find(t.Context(), token); !errors.Is(err, people.ErrNoLink) {
			t.Errorf("%q: %v", string(token), err)
		}
	}
	if _, err := r.NewLink(t.Context(), "s", "A09"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("a link for nobody: %v", err)
	}
}

func consentText() people.ConsentText {
	return people.ConsentText{Purpose: "p", ContentWarning: "c", DataCollected: "d", Pay: "y", Withdrawal: "w", Retention: "r", Publication: "u", Ethics: "none", Contact: "o"}
}

func TestConsent(t *testing.T) {
	r := registry()
	ctx := t.Context()
	if _, err := r.Consented(ctx, "s", "A01"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("without a text: %v", err)
	}
	text := consentText()
	set := func(want int) {
		t.Helper()
		if version, err := r.SetConsentText(ctx, "s", text); err != nil || version != want {
			t.Errorf("version %d, %v, want %d", version, err, want)
		}
	}
	consented := func(who string, want bool) {
		t.Helper()
		if got, err := r.Consented(ctx, "s", who); err != nil || got != want {
			t.Errorf("%s consented: %v, %v, want %v", who, got, err, want)
		}
	}
	set(1)
	set(1) // the same text
	consented("A01", false)
	if err := r.Accept(ctx, "s", "A01", 1, false); err == nil {
		t.Error("a minor is accepted")
	}
	consented("A01", false)
	for range 2 {
		if err := r.Accept(ctx, "s", "A01", 1, true); err != nil {
			t.Fatal(err)
		}
	}
	consented("A01", true)
	consented("A02", false)
	text.Pay = "more"
	set(2)
	consented("A01", false)
	if err := r.Accept(ctx, "s", "A01", 1, true); err == nil || !strings.Contains(err.Error(), "read version 2") {
		t.Errorf("an old version: %v", err)
	}
	if version, got, err := r.ConsentText(ctx, "s"); err != nil || version != 2 || got != text {
		t.Errorf("version %d, %+v, %v", version, got, err)
	}
}

func TestParseConsent(t *testing.T) {
	full := "purpose='p'\ncontent_warning='c'\ndata_collected='d'\npay='y'\nwithdrawal='w'\nretention='r'\npublication='u'\nethics='none'\ncontact='o'\n"
	if got, err := people.ParseConsent(full); err != nil || got != consentText() {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		people.ConsentTemplate:                       "purpose is empty; content warning is empty",
		full + "age = 16":                            `"age" is no field`,
		strings.Replace(full, "'none'", "' '", 1):    "ethics approval is empty",
		"purpose = ":                                 "no TOML",
		strings.Replace(full, "pay='y'", "pay=1", 1): "no TOML",
		strings.Replace(full, "'p'", "'"+strings.Repeat("x", people.MaxConsent+1)+"'", 1): "purpose has more than",
	} {
		if _, err := people.ParseConsent(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseConsent(f *testing.F) {
	f.Add(people.ConsentTemplate)
	f.Add("purpose = 'x'\npay = 1")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := people.ParseConsent(text)
		for _, s := range c.Sections() {
			if err == nil && (strings.TrimSpace(s.Text) == "" || len(s.Text) > people.MaxConsent) {
				t.Errorf("%s is %.60q", s.Heading, s.Text)
			}
		}
	})
}

func note(who string, item int, text string) people.Note {
	return people.Note{Pseudonym: who, Modality: annotation.Audio, Item: item, Text: text, Time: noon}
}

func TestNotes(t *testing.T) {
	r := registry()
	ctx := t.Context()
	add(t, r, "ann", "bo")
	for _, n := range []people.Note{note("A01", 3, "first <b>"), note("A01", 3, "second"), note("A01", 4, "gone"), note("A01", 4, ""), note("A02", 3, "other")} {
		if err := r.PutNote(ctx, "s", n); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.Notes(ctx, "s", "A01")
	if diff := cmp.Diff([]people.Note{note("A01", 3, "second")}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if n, err := r.Note(ctx, "s", "A01", annotation.Text, 3); err != nil || n.Text != "" {
		t.Errorf("a note that nobody wrote: %+v, %v", n, err)
	}
	if strings.Contains(all(t, r.Store), "second") {
		t.Error("a note is stored in the clear")
	}
	for _, n := range []people.Note{note("A01", 1, strings.Repeat("x", people.MaxNote+1)), note("A01", 1, "\xff"), {Pseudonym: "A01", Modality: "../x", Text: "x"}} {
		if err := r.PutNote(ctx, "s", n); err == nil {
			t.Errorf("taken: %.60q", n.Text)
		}
	}
	// Sealed bytes in another's place don't open.
	moved, err := objectstore.Bytes(ctx, r.Store, objectstore.Ref{Key: "people/studies/s/notes/A02/audio-00003.json"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := objectstore.PutBytes(ctx, r.Store, "people/studies/s/notes/A01/audio-00003.json", moved, objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Note(ctx, "s", "A01", annotation.Audio, 3); err == nil {
		t.Error("another's note opens")
	}
}

// Nothing that is left of an erased person leads to them, even for one who kept a copy
// of the whole store but for the keys.
func TestErase(t *testing.T) {
	r := registry()
	ctx := t.Context()
	people1 := add(t, r, "ann", "bo")
	token, err := r.NewLink(ctx, "s", "A01")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.SetConsentText(ctx, "s", consentText()); err != nil {
		t.Fatal(err)
	}
	if err := r.Accept(ctx, "s", "A01", 1, true); err != nil {
		t.Fatal(err)
	}
	if err := r.PutNote(ctx, "s", note("A01", 3, "mine")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // may be repeated
		if err := r.Erase(ctx, "s", "A01"); err != nil {
			t.Fatal(err)
		}
	}
	text := all(t, r.Store)
	for _, gone := range []string{"keys/A01", "persons/A01", "notes/A01", "people/links/"} {
		if strings.Contains(text, gone) {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, err := r.Find(ctx, token); !errors.Is(err, people.ErrNoLink) {
		t.Errorf("the link: %v", err)
	}
	if erased, err := r.Erased(ctx, "s"); err != nil || !slices.Equal(erased, []string{"A01"}) {
		t.Errorf("erased %v, %v", erased, err)
	}
	listed, err := r.List(ctx, "s")
	if diff := cmp.Diff(people1[1:], listed); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := r.PutNote(ctx, "s", note("A01", 5, "back")); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("a note without a key: %v", err)
	}
	// Their pseudonym is never another's.
	if later := add(t, r, "cy"); later[0].Pseudonym != "A03" {
		t.Errorf("the next is %s", later[0].Pseudonym)
	}
}
