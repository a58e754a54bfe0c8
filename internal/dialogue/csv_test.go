package dialogue_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

const header = "ID,Dialogue,Manipulative,Technique,Vulnerability\n"

// finding is a problem without its place and wording.
type finding struct {
	ID    string
	Kind  dialogue.Kind
	Fatal bool
}

func findings(v dialogue.Validation) []finding {
	var found []finding
	for _, p := range v.Problems {
		found = append(found, finding{p.ID, p.Kind, p.Fatal})
	}
	return found
}

func turns(pairs ...string) []dialogue.Turn {
	var all []dialogue.Turn
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, dialogue.Turn{Speaker: dialogue.Speaker(pairs[i]), Text: pairs[i+1]})
	}
	return all
}

func TestReadCSV(t *testing.T) {
	plain := turns("Person1", "Hi.", "Person2", "No.")
	yes := func(id string, turns []dialogue.Turn, tactics ...tactic.Tactic) []dialogue.Dialogue {
		return []dialogue.Dialogue{{ID: id, Turns: turns, Truth: dialogue.Yes, Tactics: tactics}}
	}
	note := func(kind dialogue.Kind) []finding { return []finding{{"1", kind, false}} }
	fatal := func(kind dialogue.Kind) []finding { return []finding{{"1", kind, true}} }
	tests := map[string]struct {
		csv      string
		want     []dialogue.Dialogue
		problems []finding
	}{
		"plain row":                 {csv: header + "1,\"Person1: Hi.\nPerson2: No.\",1,,\n", want: yes("1", plain)},
		"byte order mark":           {csv: "\ufeff" + header + "1,\"Person1: Hi.\nPerson2: No.\",1,,\n", want: yes("1", plain)},
		"mark and quoted header":    {csv: "\ufeff\"ID\",Dialogue,Manipulative\n1,\"Person1: Hi.\nPerson2: No.\",1\n", want: yes("1", plain)},
		"CRLF everywhere":           {csv: strings.ReplaceAll(header+"1,\"Person1: Hi.\nPerson2: No.\",1,,\n", "\n", "\r\n"), want: yes("1", plain)},
		"lone CR breaks lines":      {csv: header + "1,\"Person1: Hi.\rPerson2: No.\",1,,\n", want: yes("1", plain)},
		"no last line feed":         {csv: header + "1,\"Person1: Hi.\nPerson2: No.\",1,,", want: yes("1", plain)},
		"columns in another order":  {csv: "note,Manipulative,dialogue, id \nx,1,\"Person1: Hi.\nPerson2: No.\",1\n", want: yes("1", plain)},
		"spreadsheet numbers":       {csv: header + "85514414.0,\"Person1: Hi.\nPerson2: No.\",1.0,,\n", want: yes("85514414", plain)},
		"only a whole number is .0": {csv: header + "v2.0,\"Person1: Hi.\nPerson2: No.\",1,,\n", want: yes("v2.0", plain)},
		"an id like a path":         {csv: header + "../a b,\"Person1: Hi.\nPerson2: No.\",1,,\n", want: yes("../a b", plain)},
		"colons and quotes in text": {csv: header + "1,\"Person1: Say: \"\"no\"\".\nPerson2: 10:30: ok\",1,,\n", want: yes("1", turns("Person1", `Say: "no".`, "Person2", "10:30: ok"))},
		"no space after the label":  {csv: header + "1,\"Person1:Hi.\n Person2:No. \",1,,\n", want: yes("1", plain)},
		"an empty turn is kept":     {csv: header + "1,\"Person1: \nPerson2: No.\nPerson1:\",1,,\n", want: yes("1", turns("Person1", "", "Person2", "No.", "Person1", ""))},
		"one speaker twice":         {csv: header + "1,\"Person1: a\nPerson1: b\",1,,\n", want: yes("1", turns("Person1", "a", "Person1", "b"))},
		"blank lines":               {csv: header + "1,\"\nPerson1: Hi.\n\nPerson2: No.\n\n\",1,,\n", want: yes("1", plain)},
		"names as labels":           {csv: header + "1,\"Ann: It is 10:30.\nDr.Böhm: http://x\",1,,\n", want: yes("1", turns("Ann", "It is 10:30.", "Dr.Böhm", "http://x"))},
		"several tactics":           {csv: header + "1,\"Person1: Hi.\nPerson2: No.\",1,\"Denial, accusation\",\n", want: yes("1", plain, tactic.Denial, tactic.Accusation)},
		"tactic none":               {csv: header + "1,\"Person1: Hi.\nPerson2: No.\",1,none,\n", want: yes("1", plain)},
		"tab in text":               {csv: header + "1,\"Person1: a\tb\",1,,\n", want: yes("1", turns("Person1", "a\tb"))},

		"a line without a label": {
			csv: header + "1,\"Person1: Hi.\nNote: come in.\n\nnow\nPerson2:\nNo.\",1,,\n", problems: note(dialogue.Continuation),
			want: yes("1", turns("Person1", "Hi. Note: come in. now", "Person2", "No.")),
		},
		"opening colon without a speaker": {
			csv: header + "1,\": \nPerson2: Hi.\nPerson1: No.\",1,,\n", problems: note(dialogue.NoSpeaker),
			want: yes("1", turns("Person2", ":", "Person2", "Hi.", "Person1", "No.")),
		},
		"unknown tactic": {
			csv: header + "1,\"Person1: Hi.\nPerson2: No.\",1,\"Gaslighting,Denial\",\n", problems: note(dialogue.UnknownTactic),
			want: yes("1", plain, tactic.Denial),
		},
		"repeated tactic": {
			csv: header + "1,\"Person1: Hi.\nPerson2: No.\",1,\"Denial,denial\",\n", problems: note(dialogue.RepeatedTactic),
			want: yes("1", plain, tactic.Denial),
		},
		"tactic on a NO": {
			csv: header + "1,\"Person1: Hi.\nPerson2: No.\",0,Denial,\n", problems: note(dialogue.TacticOnNo),
			want: []dialogue.Dialogue{{ID: "1", Turns: plain, Truth: dialogue.No, Tactics: []tactic.Tactic{tactic.Denial}}},
		},
		"bytes that are no UTF-8": {
			csv: header + "1,\"Person1: don\x92t\",1,,\n", problems: note(dialogue.Encoding),
			want: yes("1", turns("Person1", "don\uFFFDt")),
		},
		"lost characters": {
			csv: header + "1,\"Person1: don\uFFFDt\",1,,\n", problems: note(dialogue.Encoding),
			want: yes("1", turns("Person1", "don\uFFFDt")),
		},
		"control characters": {
			csv: header + "1,\"Person1: a\x1b[31mb\x00\u009d\",1,,\n", problems: note(dialogue.ControlCharacters),
			want: yes("1", turns("Person1", "a [31mb")),
		},

		"empty id":                {csv: header + " ,\"Person1: Hi.\",1,,\n", problems: []finding{{"", dialogue.BadID, true}}},
		"long id":                 {csv: header + strings.Repeat("9", 201) + ",\"Person1: Hi.\",1,,\n", problems: []finding{{"", dialogue.BadID, true}}},
		"line break in the id":    {csv: header + "\"1\n2\",\"Person1: Hi.\",1,,\n", problems: []finding{{"", dialogue.BadID, true}}},
		"broken id":               {csv: header + "1\xff,\"Person1: Hi.\",1,,\n", problems: []finding{{"", dialogue.BadID, true}}},
		"manipulative 2":          {csv: header + "1,\"Person1: Hi.\",2,,\n", problems: fatal(dialogue.BadTruth)},
		"manipulative yes":        {csv: header + "1,\"Person1: Hi.\",yes,,\n", problems: fatal(dialogue.BadTruth)},
		"manipulative empty":      {csv: header + "1,\"Person1: Hi.\",,,\n", problems: fatal(dialogue.BadTruth)},
		"too few columns":         {csv: header + "1,\"Person1: Hi.\",1\n", problems: fatal(dialogue.Columns)},
		"too many columns":        {csv: header + "1,Person1: Hi, you.,1,,\n", problems: fatal(dialogue.Columns)},
		"empty dialogue":          {csv: header + "1,,1,,\n", problems: fatal(dialogue.NoTurns)},
		"no label at all":         {csv: header + "1,Just a remark.,1,,\n", problems: fatal(dialogue.NoTurns)},
		"no words at all":         {csv: header + "1,\"Person1: ...\nPerson2: \",1,,\n", problems: fatal(dialogue.NoWords)},
		"opening words of nobody": {csv: header + "1,\"Night falls.\nPerson1: Hi.\",1,,\n", problems: fatal(dialogue.NoSpeaker)},
		"too many turns":          {csv: header + "1,\"" + strings.Repeat("Person1: a\n", 501) + "\",1,,\n", problems: fatal(dialogue.TooLarge)},
		"too many tactics":        {csv: header + "1,Person1: Hi.,1,\"" + strings.Repeat("x,", 50) + "\",\n", problems: fatal(dialogue.TooLarge)},
		"too many bytes":          {csv: header + "1,\"Person1: " + strings.Repeat("a", 1<<20) + "\",1,,\n", problems: fatal(dialogue.TooLarge)},
		"every problem of a row":  {csv: header + "1,,x,Gaslighting,\n", problems: []finding{{"1", dialogue.NoTurns, true}, {"1", dialogue.BadTruth, true}, {"1", dialogue.UnknownTactic, false}}},

		"the first of two ids counts": {
			csv:  header + "7,\"Person1: Hi.\nPerson2: No.\",1,,\n7.0,\"Person1: Other.\",0,,\n",
			want: yes("7", plain), problems: []finding{{"7", dialogue.DuplicateID, true}},
		},
		"an unusable row keeps its id": {
			csv:      header + "7,Person1: Hi.,x,,\n7,Person1: Hi.,1,,\n",
			problems: []finding{{"7", dialogue.BadTruth, true}, {"7", dialogue.DuplicateID, true}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := dialogue.ReadCSV(strings.NewReader(test.csv))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Dialogues); diff != "" {
				t.Errorf("dialogues (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.problems, findings(got.Validation)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			requireRoundTrip(t, got)
		})
	}
}

func TestReadCSVRefusesTheFile(t *testing.T) {
	tests := map[string]struct {
		csv  string
		want []string // parts of the message
	}{
		"empty":            {"", []string{"empty", "columns"}},
		"missing columns":  {"ID,Text,Label\n1,a,1\n", []string{"missing columns: Dialogue, Manipulative", `"ID", "Text", "Label"`}},
		"other separator":  {"ID;Dialogue;Manipulative\n", []string{"missing columns: ID, Dialogue, Manipulative", `"ID;Dialogue;Manipulative"`, "commas"}},
		"column twice":     {"ID,Dialogue,Manipulative,id\n", []string{"ID", "more than once"}},
		"UTF-16":           {"\xff\xfeI\x00D\x00", []string{"UTF-16", "UTF-8"}},
		"bare quote":       {header + "1,\"Person1: Hi.\nPerson2: No.\",1,,\n2,a \"b\" c,1,,\n", []string{"line 4", "quot"}},
		"quote not closed": {header + "1,Person1: Hi.,1,,\n2,\"Person1: a\nPerson2: b,1,,\n", []string{"starts at line 3", "quot"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := dialogue.ReadCSV(strings.NewReader(test.csv))
			if err == nil {
				t.Fatal("want an error")
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error lacks %q: %v", part, err)
				}
			}
		})
	}
}

func TestProblemSaysWhere(t *testing.T) {
	got, err := dialogue.ReadCSV(strings.NewReader(header + "a,\"Person1: Hi.\nPerson2: No.\",1,,\n\nb,Person1: Hi.,1,Gaslighting,\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []dialogue.Problem{{Row: 2, Line: 5, ID: "b", Kind: dialogue.UnknownTactic, Detail: `unknown tactic "Gaslighting" is left out`}}
	if diff := cmp.Diff(want, got.Validation.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestSameTextIsReported(t *testing.T) {
	rows := "a,Person1: Don't go!,1,,\nb,Person1: Stay.,0,,\nc,Person2: don’t -- go,0,,\n"
	got, err := dialogue.ReadCSV(strings.NewReader(header + rows))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a", "c"}}, got.Validation.Duplicates); diff != "" {
		t.Errorf("duplicates (-want +got):\n%s", diff)
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add([]byte(header + "85514414.0,\"Person1: Hi.\nPerson2: No.\",1,\"Denial,Gaslighting\",\n"))
	f.Add([]byte("\ufeff" + header + "1,\": \r\nPerson1: a\x00b\xff\r\nnote\",0,,\r\n1,\"x\",1,,\r\n"))
	f.Add([]byte("Manipulative,Dialogue,ID\n1,\"Ann: a\u2028b\nBob: c\",x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := dialogue.ReadCSV(strings.NewReader(string(data))); err == nil {
			requireRoundTrip(t, got)
		}
	})
}

// requireRoundTrip checks that what is read can be written and read again.
func requireRoundTrip(t *testing.T, want dialogue.Dataset) {
	t.Helper()
	if len(want.Dialogues) == 0 {
		return
	}
	var file strings.Builder
	if err := dialogue.WriteJSONL(&file, want.Dialogues); err != nil {
		t.Fatal(err)
	}
	got, err := dialogue.ReadJSONL(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(dialogue.Validation{}, "Problems")); diff != "" {
		t.Fatalf("read again (-want +got):\n%s", diff)
	}
	for i, line := range strings.Split(strings.TrimSuffix(file.String(), "\n"), "\n") {
		one, err := dialogue.ParseLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Dialogues[i], one); diff != "" {
			t.Fatalf("line %d (-want +got):\n%s", i+1, diff)
		}
	}
}
