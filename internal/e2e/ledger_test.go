//go:build integration && linux

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// ledger is what the workers' logs say about costly calls.
type ledger struct {
	calls      int
	failed     int             // calls that ended without a result
	unstored   int             // results that the store didn't take, or took without a word
	inFlight   map[string]bool // begun, and no end was seen
	stored     map[string]bool
	duplicates []string // keys that were called again after they were stored
}

// readLedger reads the logs of workers, in the order in which things happened.
func readLedger(t *testing.T, logs ...string) ledger {
	t.Helper()
	type entry struct{ TS, Msg, Key string }
	var entries []entry
	for _, path := range logs {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var e entry
			if json.Unmarshal(line, &e) != nil || e.Key == "" {
				continue // the readiness line, or the cut end of a killed worker's log
			}
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.TS, b.TS) })
	l := ledger{inFlight: map[string]bool{}, stored: map[string]bool{}}
	for _, e := range entries {
		switch e.Msg {
		case "call":
			l.calls++
			if l.stored[e.Key] {
				l.duplicates = append(l.duplicates, e.Key)
			}
			l.inFlight[e.Key] = true
		case "stored", "stored before":
			l.stored[e.Key] = true
			delete(l.inFlight, e.Key)
		case "call failed":
			l.failed++
			delete(l.inFlight, e.Key)
		case "not stored":
			l.unstored++
			delete(l.inFlight, e.Key)
		}
	}
	return l
}

// What lives side by side is read in time: the second worker's call of a is before
// the first one's result, its call of b after it.
func TestLedger(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	l := readLedger(t, write("1", `{"ts":"2026-01-01T00:00:00.001Z","msg":"call","key":"a"}
{"ts":"2026-01-01T00:00:00.003Z","msg":"stored","key":"a"}
{"ts":"2026-01-01T00:00:00.004Z","msg":"call","key":"b"}
{"ts":"2026-01-01T00:00:00.005Z","msg":"stored","key":"b"}
{"ts":"2026-01-01T00:00:00.006Z","msg":"call","key":"killed"}
{"ts":"2026-01-01T00:00:00.007Z","msg":"ca`), write("2", `worker ready: queues audio
{"ts":"2026-01-01T00:00:00.002Z","msg":"call","key":"a"}
{"ts":"2026-01-01T00:00:00.004Z","msg":"call failed","key":"a"}
{"ts":"2026-01-01T00:00:00.006Z","msg":"call","key":"b"}
{"ts":"2026-01-01T00:00:00.007Z","msg":"stored before","key":"b"}
{"ts":"2026-01-01T00:00:00.007Z","msg":"call","key":"refused"}
{"ts":"2026-01-01T00:00:00.008Z","msg":"not stored","key":"refused"}
`))
	if l.calls != 6 || len(l.stored) != 2 || l.failed != 1 || l.unstored != 1 ||
		!slices.Equal(l.duplicates, []string{"b"}) || len(l.inFlight) != 1 || !l.inFlight["killed"] {
		t.Errorf("%+v", l)
	}
}
