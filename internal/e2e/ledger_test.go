//go:build integration && linux

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
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
