// Package objectstoretest is the conformance suite that every
// objectstore.Store passes.
package objectstoretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Run runs the suite. newStore returns an empty store; it is called once a test.
func Run(t *testing.T, newStore func(t *testing.T) objectstore.Store) {
	tests := []struct {
		name string
		run  func(*testing.T, objectstore.Store)
	}{
		{"RoundTrip", testRoundTrip},
		{"PutFromPosition", testPutFromPosition},
		{"EmptyObject", testEmptyObject},
		{"LargeObject", testLargeObject},
		{"Overwrite", testOverwrite},
		{"NotFound", testNotFound},
		{"Range", testRange},
		{"Corruption", testCorruption},
		{"Delete", testDelete},
		{"ListPages", testListPages},
		{"ListPrefix", testListPrefix},
		{"IfAbsent", testIfAbsent},
		{"IfAbsentRace", testIfAbsentRace},
		{"Presign", testPresign},
		{"Cancelled", testCancelled},
		{"Bytes", testBytes},
		{"JSON", testJSON},
		{"UnusualKeys", testUnusualKeys},
		{"RefusedKeys", testRefusedKeys},
		{"ClaimHeld", testClaimHeld},
		{"ClaimReleased", testClaimReleased},
		{"ClaimExpires", testClaimExpires},
		{"ClaimRace", testClaimRace},
		{"ClaimTakeoverRace", testClaimTakeoverRace},
		{"ClaimNeverShared", testClaimNeverShared},
		{"ClaimRefused", testClaimRefused},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, newStore(t)) })
	}
}

func testRoundTrip(t *testing.T, store objectstore.Store) {
	ref := put(t, store, "turns/ab/1.wav", "hello")
	want := objectstore.Ref{
		Key:    "turns/ab/1.wav",
		SHA256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
		Size:   5,
	}
	if diff := cmp.Diff(want, ref); diff != "" {
		t.Errorf("Put's ref (-want +got):\n%s", diff)
	}
	stat, err := store.Stat(t.Context(), ref.Key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, stat); diff != "" {
		t.Errorf("Stat's ref (-want +got):\n%s", diff)
	}
	if got := read(t, store, ref); got != "hello" {
		t.Errorf("read %q", got)
	}
	if got := read(t, store, objectstore.Ref{Key: ref.Key}); got != "hello" {
		t.Errorf("read by key alone %q", got)
	}
}

func testPutFromPosition(t *testing.T, store objectstore.Store) {
	body := strings.NewReader("header:body")
	if _, err := body.Seek(7, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	ref, err := store.Put(t.Context(), "k", body, objectstore.PutOptions{ContentType: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, store, ref); got != "body" || ref.Size != 4 {
		t.Errorf("read %q, size %d", got, ref.Size)
	}
}

func testEmptyObject(t *testing.T, store objectstore.Store) {
	ref := put(t, store, "empty", "")
	if ref.Size != 0 || ref.SHA256 != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("ref %+v", ref)
	}
	if got := read(t, store, ref); got != "" {
		t.Errorf("read %q", got)
	}
	if _, err := store.OpenRange(t.Context(), "empty", 0, 1); !errors.Is(err, objectstore.ErrRange) {
		t.Errorf("a range of nothing: %v", err)
	}
}

func testLargeObject(t *testing.T, store objectstore.Store) {
	data := make([]byte, 20<<20)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(data) // never fails
	ref, err := objectstore.PutBytes(t.Context(), store, "large", data, objectstore.PutOptions{IfAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	body, err := store.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	got, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, data) {
		t.Error("other bytes came back")
	}
}

func testOverwrite(t *testing.T, store objectstore.Store) {
	put(t, store, "manifest.json", "first")
	second := put(t, store, "manifest.json", "second")
	stat, err := store.Stat(t.Context(), "manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second, stat); diff != "" {
		t.Errorf("ref after overwriting (-want +got):\n%s", diff)
	}
	if got := read(t, store, second); got != "second" {
		t.Errorf("read %q", got)
	}
}

func testNotFound(t *testing.T, store objectstore.Store) {
	put(t, store, "there/a", "x")
	for _, key := range []string{"nothing", "there", "there/a2"} {
		_, statErr := store.Stat(t.Context(), key)
		_, openErr := store.Open(t.Context(), objectstore.Ref{Key: key})
		_, rangeErr := store.OpenRange(t.Context(), key, 0, 1)
		for op, err := range map[string]error{"Stat": statErr, "Open": openErr, "OpenRange": rangeErr} {
			if !errors.Is(err, objectstore.ErrNotFound) || fault.KindOf(err) != fault.Permanent {
				t.Errorf("%s of %q: %v", op, key, err)
			}
		}
	}
}

func testRange(t *testing.T, store objectstore.Store) {
	put(t, store, "digits", "0123456789")
	for _, test := range []struct {
		offset, length int64
		want           string
	}{
		{0, 1, "0"},
		{0, 10, "0123456789"},
		{3, 4, "3456"},
		{9, 1, "9"},
		{8, 100, "89"},
	} {
		body, err := store.OpenRange(t.Context(), "digits", test.offset, test.length)
		if err != nil {
			t.Errorf("%d+%d: %v", test.offset, test.length, err)
			continue
		}
		got, err := io.ReadAll(body)
		body.Close()
		if err != nil || string(got) != test.want {
			t.Errorf("%d+%d: %q, %v, want %q", test.offset, test.length, got, err, test.want)
		}
	}
	if _, err := store.OpenRange(t.Context(), "digits", 10, 1); !errors.Is(err, objectstore.ErrRange) {
		t.Errorf("a range past the end: %v", err)
	}
	for _, bad := range [][2]int64{{-1, 1}, {0, 0}, {0, -1}, {1, math.MaxInt64}} {
		if _, err := store.OpenRange(t.Context(), "digits", bad[0], bad[1]); fault.KindOf(err) != fault.Permanent {
			t.Errorf("range %v: %v", bad, err)
		}
	}
}

func testCorruption(t *testing.T, store objectstore.Store) {
	ref := put(t, store, "turns/1", "what was said")
	put(t, store, "turns/1", "what was sai!")
	body, err := store.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	_, err = io.ReadAll(body)
	if !errors.Is(err, objectstore.ErrCorrupt) || fault.KindOf(err) != fault.Permanent {
		t.Errorf("reading changed bytes: %v", err)
	}
	if _, err := body.Read(make([]byte, 1)); !errors.Is(err, objectstore.ErrCorrupt) {
		t.Errorf("reading on: %v", err)
	}
	if _, err := objectstore.Bytes(t.Context(), store, ref); !errors.Is(err, objectstore.ErrCorrupt) {
		t.Errorf("Bytes: %v", err)
	}
}

func testDelete(t *testing.T, store objectstore.Store) {
	put(t, store, "a/b", "x")
	put(t, store, "a/c", "y")
	for range 2 { // the second finds nothing
		if err := store.Delete(t.Context(), "a/b"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Stat(t.Context(), "a/b"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("Stat after Delete: %v", err)
	}
	if diff := cmp.Diff([]string{"a/c"}, keys(t, store, "")); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
}

func testListPages(t *testing.T, store objectstore.Store) {
	const n = 1050 // S3 lists 1,000 a page
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("passes/%04d", i))
	}
	var wait sync.WaitGroup
	for part := range slices.Chunk(want, n/16+1) {
		wait.Go(func() {
			for _, key := range part {
				put(t, store, key, "x")
			}
		})
	}
	wait.Wait()
	if diff := cmp.Diff(want, keys(t, store, "passes/")); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for entry, err := range store.List(t.Context(), "passes/") { // stopping early is fine
		if err != nil || entry.Size != 1 || entry.Modified.IsZero() {
			t.Errorf("entry %+v, %v", entry, err)
		}
		break
	}
}

func testListPrefix(t *testing.T, store objectstore.Store) {
	all := []string{"a", "b-c", "b.c", "b/c", "b/d/e", "b0", "ba", "c"}
	for _, key := range all {
		put(t, store, key, key)
	}
	for prefix, want := range map[string][]string{
		"":       all,
		"b":      {"b-c", "b.c", "b/c", "b/d/e", "b0", "ba"},
		"b/":     {"b/c", "b/d/e"},
		"b/d":    {"b/d/e"},
		"b/d/e":  {"b/d/e"},
		"absent": nil,
		"b/d/e/": nil,
	} {
		if diff := cmp.Diff(want, keys(t, store, prefix)); diff != "" {
			t.Errorf("prefix %q (-want +got):\n%s", prefix, diff)
		}
	}
}

func testIfAbsent(t *testing.T, store objectstore.Store) {
	once := objectstore.PutOptions{IfAbsent: true}
	first, err := objectstore.PutBytes(t.Context(), store, "k", []byte("mine"), once)
	if err != nil {
		t.Fatal(err)
	}
	again, err := objectstore.PutBytes(t.Context(), store, "k", []byte("mine"), once)
	if err != nil || again != first {
		t.Errorf("the same bytes: %+v, %v", again, err)
	}
	_, err = objectstore.PutBytes(t.Context(), store, "k", []byte("other"), once)
	if !errors.Is(err, objectstore.ErrExists) || fault.KindOf(err) != fault.Permanent {
		t.Errorf("other bytes: %v", err)
	}
	if got := read(t, store, first); got != "mine" {
		t.Errorf("kept %q", got)
	}
}

func testIfAbsentRace(t *testing.T, store objectstore.Store) {
	once := objectstore.PutOptions{IfAbsent: true}
	for round := range 5 {
		key := fmt.Sprintf("race/%d", round)
		errs := together(16, func(i int) error {
			_, err := objectstore.PutBytes(t.Context(), store, key, fmt.Appendf(nil, "writer %d", i), once)
			return err
		})
		winner := onlyWinner(t, errs, objectstore.ErrExists)
		if got, want := read(t, store, objectstore.Ref{Key: key}), fmt.Sprintf("writer %d", winner); got != want {
			t.Errorf("kept %q, the winner was %q", got, want)
		}
		for i, err := range together(16, func(int) error {
			_, err := objectstore.PutBytes(t.Context(), store, key+"-same", []byte("same"), once)
			return err
		}) {
			if err != nil {
				t.Errorf("writer %d of the same bytes: %v", i, err)
			}
		}
	}
}

func testPresign(t *testing.T, store objectstore.Store) {
	put(t, store, "clips/ä b+c%20&d.wav", "sound")
	link, err := store.Presign(t.Context(), "clips/ä b+c%20&d.wav", time.Minute)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this store has no links")
	}
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || string(got) != "sound" {
		t.Errorf("got %s %q, %v", response.Status, got, err)
	}
	for _, lifetime := range []time.Duration{0, -time.Second, objectstore.MaxPresign + 1} {
		if _, err := store.Presign(t.Context(), "k", lifetime); fault.KindOf(err) != fault.Permanent {
			t.Errorf("lifetime %s: %v", lifetime, err)
		}
	}
}

func testCancelled(t *testing.T, store objectstore.Store) {
	put(t, store, "k", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, statErr := store.Stat(ctx, "k")
	_, putErr := objectstore.PutBytes(ctx, store, "k2", nil, objectstore.PutOptions{})
	var listErr error
	for _, listErr = range store.List(ctx, "") {
	}
	for op, err := range map[string]error{"Stat": statErr, "Put": putErr, "List": listErr, "Delete": store.Delete(ctx, "k")} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func testBytes(t *testing.T, store objectstore.Store) {
	ref := put(t, store, "k", "all of it")
	got, err := objectstore.Bytes(t.Context(), store, ref)
	if err != nil || string(got) != "all of it" {
		t.Errorf("%q, %v", got, err)
	}
}

func testJSON(t *testing.T, store objectstore.Store) {
	type value struct {
		Text   string         `json:"text"`
		Counts map[string]int `json:"counts"`
	}
	want := value{Text: "<Jack & Jones>", Counts: map[string]int{"b": 2, "a": 1}}
	ref, err := objectstore.PutJSON(t.Context(), store, "v.json", want, objectstore.PutOptions{IfAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, store, ref); got != `{"text":"<Jack & Jones>","counts":{"a":1,"b":2}}`+"\n" {
		t.Errorf("stored %s", got)
	}
	got, err := objectstore.GetJSON[value](t.Context(), store, ref)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	_, err = objectstore.GetJSON[value](t.Context(), store, put(t, store, "bad.json", `{"text":`))
	if fault.KindOf(err) != fault.Permanent {
		t.Errorf("cut JSON: %v", err)
	}
}
