package sample

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

type solved struct {
	ID, Verdict, Tactic, Quote string
	Turns                      []struct{ Speaker, Text string }
}

func solvedDialogues(t *testing.T) []solved {
	t.Helper()
	var all []solved
	for line := range bytes.Lines(Exemplars()) {
		var s solved
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&s); err != nil {
			t.Fatalf("line %d: %v", len(all)+1, err)
		}
		all = append(all, s)
	}
	return all
}

func (s solved) row() row {
	r := row{id: s.ID, yes: s.Verdict == "YES"}
	for _, t := range s.Turns {
		r.turns = append(r.turns, turn{t.Speaker, t.Text})
	}
	return r
}

func TestExemplars(t *testing.T) {
	var verdicts, ids []string
	for _, s := range solvedDialogues(t) {
		ids, verdicts = append(ids, s.ID), append(verdicts, s.Verdict)
		if n := speakers(s.row()); n != 2 || len(s.Turns) < 3 {
			t.Errorf("%s: %d speakers and %d turns, want 2 and at least 3", s.ID, n, len(s.Turns))
		}
		if s.Verdict == "NO" {
			if s.Tactic != string(tactic.None) || s.Quote != "" {
				t.Errorf("%s is a NO with tactic %q and quote %q", s.ID, s.Tactic, s.Quote)
			}
			continue
		}
		if !slices.Contains(tactic.All(), tactic.Tactic(s.Tactic)) {
			t.Errorf("%s: unknown tactic %q", s.ID, s.Tactic)
		}
		if n := len(strings.Fields(s.Quote)); n == 0 || n > 12 {
			t.Errorf("%s: the quote has %d words, want 1 to 12", s.ID, n)
		}
		if !slices.ContainsFunc(s.row().turns, func(t turn) bool { return strings.Contains(t.text, s.Quote) }) {
			t.Errorf("%s: nobody says %q", s.ID, s.Quote)
		}
	}
	if got := strings.Join(verdicts, " "); got != "NO NO YES YES" {
		t.Errorf("verdicts %s, want two NO then two YES", got)
	}
	if got := strings.Join(ids, " "); got != "x001 x002 x003 x004" {
		t.Errorf("ids %s", got)
	}
}

func TestExemplarsShareNoSentenceWithWhatIsScored(t *testing.T) {
	origin := map[string]string{}
	for _, file := range [][]byte{Dialogues(), Training()} {
		for _, r := range parse(t, file) {
			for _, sentence := range sentences(r) {
				origin[sentence] = r.id
			}
		}
	}
	for _, s := range solvedDialogues(t) {
		if len(sentences(s.row())) == 0 {
			t.Errorf("%s has no sentence to compare", s.ID)
		}
		for _, sentence := range sentences(s.row()) {
			if id, shared := origin[sentence]; shared {
				t.Errorf("%s and %s both say %q", id, s.ID, sentence)
			}
		}
	}
}
