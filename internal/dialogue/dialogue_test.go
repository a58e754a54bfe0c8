package dialogue_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Don’t -- GO, don't!": {"dont", "go", "dont"},
		"_Né_ en 1984...":     {"né", "en", "1984"},
	} {
		if diff := cmp.Diff(want, dialogue.Words(text)); diff != "" {
			t.Errorf("Words(%q) (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]bool{"": true, " ... -- ’": true, ":": true, "a": false, "7": false, "né": false, "你": false} {
		if got := dialogue.Wordless(text); got != want || (len(dialogue.Words(text)) == 0) != want {
			t.Errorf("Wordless(%q) = %t, %d words", text, got, len(dialogue.Words(text)))
		}
	}
}

func TestTextHashIgnoresSpeakersAndMarks(t *testing.T) {
	hash := func(pairs ...string) string { return dialogue.Dialogue{Turns: turns(pairs...)}.TextHash() }
	if hash("A", "Don't go.", "B", "No") != hash("B", "don’t", "A", "GO", "A", "no!") {
		t.Error("the same words have different hashes")
	}
	if hash("A", "ab c") == hash("A", "a bc") {
		t.Error("different words have the same hash")
	}
}

func TestParseTruth(t *testing.T) {
	for text, want := range map[string]dialogue.Truth{"yes": dialogue.Yes, " NO ": dialogue.No} {
		if got, err := dialogue.ParseTruth(text); err != nil || got != want {
			t.Errorf("ParseTruth(%q) = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "maybe"} {
		if got, err := dialogue.ParseTruth(text); err == nil {
			t.Errorf("ParseTruth(%q) = %q, want an error", text, got)
		}
	}
}

func TestSelect(t *testing.T) {
	all := []dialogue.Dialogue{{ID: "3", Truth: dialogue.Yes}, {ID: "1", Truth: dialogue.No}, {ID: "2", Truth: dialogue.Yes}, {ID: "x"}}
	tests := map[string]struct {
		selection dialogue.Selection
		want      string
	}{
		"everything":                 {dialogue.Selection{}, "3 1 2 x"},
		"ids in the dataset's order": {dialogue.Selection{IDs: []string{"2.0", " 3", "2"}}, "3 2"},
		"limit counts last":          {dialogue.Selection{Truth: dialogue.Yes, Limit: 1, IDs: []string{"1", "2"}}, "2"},
		"limit beyond the end":       {dialogue.Selection{Truth: dialogue.No, Limit: 9}, "1"},
		"nothing left":               {dialogue.Selection{Truth: dialogue.No, IDs: []string{"2"}}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			kept, err := dialogue.Select(all, test.selection)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, d := range kept {
				ids = append(ids, d.ID)
			}
			if got := strings.Join(ids, " "); got != test.want {
				t.Errorf("kept %q, want %q", got, test.want)
			}
		})
	}
	_, err := dialogue.Select(all, dialogue.Selection{IDs: []string{"9", "1", "8\x1b", "9.0"}})
	if err == nil || !strings.HasSuffix(err.Error(), `not in the dataset: "9", "8\x1b"`) {
		t.Errorf("unknown ids: %v", err)
	}
	if _, err := dialogue.Select(all, dialogue.Selection{Limit: -1}); err == nil {
		t.Error("a negative limit passes")
	}
}

const findingsCSV = header +
	"10,\"Person1: Hi.\nPerson2: No.\nPerson3: ...\",1,Denial,\n" +
	"a\u202e,Person1: Hi no,0,Evasion\x1b[2J,\n" +
	"12,Person1: Hi.,7,,\n"

func TestValidationAsText(t *testing.T) {
	dataset, err := dialogue.ReadCSV(strings.NewReader(findingsCSV))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := dataset.Validation.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	const want = `dialogues   2 of 3 rows
turns       4, 1 without words
characters  14
1 speakers  1 dialogues
3 speakers  1 dialogues
YES         1, 0 name no tactic
NO          1

tactic mentions
  Denial                   1
  Accusation               0
  Brandishing Anger        0
  Evasion                  0
  Feigning Innocence       0
  Intimidation             0
  Persuasion or Seduction  0
  Playing Servant Role     0
  Playing Victim Role      0
  Rationalization          0
  Shaming or Belittlement  0

same text  1 groups
  10, a\u202e

problems  2, 1 rows can't be used
  note      row 2  line 5  a\u202e  unknown_tactic  unknown tactic "Evasion\x1b[2J" is left out
  UNUSABLE  row 3  line 6  12       bad_truth       Manipulative: "7" is not 1 (manipulative) or 0
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if got := dataset.Validation.Unusable(); got != 1 {
		t.Errorf("Unusable() = %d, want 1", got)
	}
}

func TestValidationAsJSON(t *testing.T) {
	dataset, err := dialogue.ReadCSV(strings.NewReader(header + "1,Person1: Hi.,1,,\n2,Person1: Bye.,x,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(dataset.Validation)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"dialogues":1,"turns":1,"wordless_turns":0,"speakers_per_dialogue":{"1":1},"characters":3,"yes":1,"no":0,` +
		`"yes_without_tactic":1,"tactic_mentions":{"Accusation":0,"Brandishing Anger":0,"Denial":0,"Evasion":0,` +
		`"Feigning Innocence":0,"Intimidation":0,"Persuasion or Seduction":0,"Playing Servant Role":0,` +
		`"Playing Victim Role":0,"Rationalization":0,"Shaming or Belittlement":0},` +
		`"problems":[{"row":2,"line":3,"id":"2","kind":"bad_truth","detail":"Manipulative: \"x\" is not 1 (manipulative) or 0","fatal":true}],` +
		`"duplicates":[]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestSays(t *testing.T) {
	d := dialogue.Dialogue{Turns: []dialogue.Turn{{Speaker: "A", Text: "You always do this, don’t you?"}, {Speaker: "B", Text: "Do what?"}}}
	for quote, want := range map[string]bool{
		"you ALWAYS do this": true,
		"don't you":          true,
		"always this":        false,
		"you do":             false, // over two turns
		"":                   false,
		"...":                false,
	} {
		if got := d.Says(quote); got != want {
			t.Errorf("%q: %v, want %v", quote, got, want)
		}
	}
}
