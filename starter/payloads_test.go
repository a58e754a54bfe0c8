package main

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
)

func sealingKeys(t *testing.T, seeds ...byte) codec.Keys {
	t.Helper()
	if len(seeds) == 0 {
		return nil
	}
	var lines []string
	for _, seed := range seeds {
		lines = append(lines, base64.StdEncoding.EncodeToString(append(bytes.Repeat([]byte{seed}, 31), 0)))
	}
	keys, err := codec.Parse(strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestCheckPayloadKeys(t *testing.T) {
	one, two := keyIDs(sealingKeys(t, 1))[0], keyIDs(sealingKeys(t, 2))[0]
	for name, tt := range map[string]struct {
		keys  codec.Keys
		known []string
		want  string // "" is none
	}{
		"nothing is encrypted":            {nil, nil, ""},
		"the first to encrypt":            {sealingKeys(t, 1), nil, ""},
		"in the clear":                    {nil, []string{one}, "there is no key here"},
		"the same key":                    {sealingKeys(t, 1), []string{one}, ""},
		"another key":                     {sealingKeys(t, 2), []string{one}, "key " + two + ", the first one here, is none of the deployment's (" + one + ")"},
		"the new key behind, as all have": {sealingKeys(t, 1, 2), []string{one, two}, ""},
		"the new key first, as all can":   {sealingKeys(t, 2, 1), []string{one, two}, ""},
		"the new key first, too early":    {sealingKeys(t, 2, 1), []string{one}, "run `starter setup` with them first"},
		"the old key, when it is gone":    {sealingKeys(t, 1), []string{two}, "is none of the deployment's"},
	} {
		err := checkPayloadKeys(tt.keys, tt.known)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// What setup notes, step by step, and what it refuses.
func TestNotePayloadKeys(t *testing.T) {
	store := archive.Archive{Store: mem.New()}
	var out bytes.Buffer
	a := &app{out: &out}
	for _, step := range []struct {
		keys    codec.Keys
		encrypt bool
		said    string
		err     string
		known   []string
	}{
		{nil, true, "", "", nil},
		{sealingKeys(t, 1), true, "must encrypt", "", keyIDs(sealingKeys(t, 1))},
		{sealingKeys(t, 1), true, "", "", keyIDs(sealingKeys(t, 1))},
		{nil, true, "", "--encryption=off", keyIDs(sealingKeys(t, 1))},
		{sealingKeys(t, 1, 2), true, "must encrypt", "", keyIDs(sealingKeys(t, 1, 2))},
		{sealingKeys(t, 1), false, "", "away first", keyIDs(sealingKeys(t, 1, 2))},
		{nil, false, "any more", "", nil},
		{nil, false, "", "", nil},
	} {
		out.Reset()
		err := a.notePayloadKeys(t.Context(), config.Config{Payloads: config.Payloads{Keys: step.keys}}, store, step.encrypt)
		if (err != nil) != (step.err != "") || err != nil && !strings.Contains(err.Error(), step.err) {
			t.Errorf("%+v: %v", step, err)
		}
		if (out.Len() > 0) != (step.said != "") || !strings.Contains(out.String(), step.said) {
			t.Errorf("%+v: said %q", step, out.String())
		}
		if known, err := store.PayloadKeys(t.Context()); err != nil || !slices.Equal(known, step.known) {
			t.Errorf("%+v: noted %q, %v", step, known, err)
		}
	}
}

func TestCheckKeysThere(t *testing.T) {
	keys := sealingKeys(t, 1)
	for name, tt := range map[string]struct {
		keys   codec.Keys
		sealed map[string]string
		want   string // the check's detail, "" for no check
		ok     bool
	}{
		"nobody answered":      {keys, nil, "", false},
		"nothing is encrypted": {nil, map[string]string{"audio": ""}, "", false},
		"the same key":         {keys, map[string]string{"audio": keys[0].ID}, "it encrypts with key " + keys[0].ID, true},
		"another key":          {keys, map[string]string{"audio": "other"}, `it encrypts with key "other", which is not here`, false},
		"no key here":          {nil, map[string]string{"audio": "other"}, `it encrypts with key "other", which is not here`, false},
		"no key there":         {keys, map[string]string{"audio": ""}, "answers in the clear", false},
	} {
		u := &checkup{}
		checkKeysThere(tt.keys, tt.sealed, []string{"audio"}, u)
		if (len(u.Checks) == 0) != (tt.want == "") {
			t.Errorf("%s: %+v", name, u.Checks)
		} else if tt.want != "" && (u.Checks[0].OK != tt.ok || !strings.Contains(u.Checks[0].Detail, tt.want)) {
			t.Errorf("%s: %+v, want %v %q", name, u.Checks[0], tt.ok, tt.want)
		}
	}
}
