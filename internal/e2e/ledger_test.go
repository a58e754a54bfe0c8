//go:build integration && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// ledger is what the workers' logs say about costly calls.
type ledger struct {
	calls      int
	inFlight   map[string]bool // begun and neither stored nor failed
	stored     map[string]bool
	duplicates []string // keys that were called again after they were stored
}

// readLedger reads logs in the order in which the workers lived.
func readLedger(t *testing.T, logs ...string) ledger {
	t.Helper()
	l := ledger{inFlight: map[string]bool{}, stored: map[string]bool{}}
	for _, path := range logs {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var entry struct{ Msg, Key string }
			if json.Unmarshal(line, &entry) != nil || entry.Key == "" {
				continue // the readiness line, or the cut end of a killed worker's log
			}
			switch entry.Msg {
			case "call":
				l.calls++
				if l.stored[entry.Key] {
					l.duplicates = append(l.duplicates, entry.Key)
				}
				l.inFlight[entry.Key] = true
			case "stored":
				l.stored[entry.Key] = true
				delete(l.inFlight, entry.Key)
			case "call failed":
				delete(l.inFlight, entry.Key)
			}
		}
	}
	return l
}
