package dialogue_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

func TestReadJSONL(t *testing.T) {
	plain := turns("Ann", "Hi.", "Bob", "No.")
	one := func(truth dialogue.Truth, tactics ...tactic.Tactic) []dialogue.Dialogue {
		return []dialogue.Dialogue{{ID: "1", Turns: plain, Truth: truth, Tactics: tactics}}
	}
	const spoken = `"turns":[{"speaker":"Ann","text":"Hi."},{"speaker":"Bob","text":"No."}]`
	fatal := func(kind dialogue.Kind) []finding { return []finding{{"1", kind, true}} }
	tests := map[string]struct {
		line     string
		want     []dialogue.Dialogue
		problems []finding
	}{
		"truth":               {line: `{"id":"1",` + spoken + `,"truth":"YES","tactics":["Denial"]}`, want: one(dialogue.Yes, tactic.Denial)},
		"truth in small":      {line: `{"id":"1",` + spoken + `,"truth":"no"}`, want: one(dialogue.No)},
		"manipulative 1":      {line: `{"id":"1",` + spoken + `,"manipulative":1}`, want: one(dialogue.Yes)},
		"manipulative 0.0":    {line: `{"id":"1",` + spoken + `,"manipulative":0.0}`, want: one(dialogue.No)},
		"manipulative true":   {line: `{"id":"1",` + spoken + `,"manipulative":true}`, want: one(dialogue.Yes)},
		"manipulative false":  {line: `{"id":"1",` + spoken + `,"manipulative":false}`, want: one(dialogue.No)},
		"no truth":            {line: `{"id":"1",` + spoken + `}`, want: one(dialogue.Unknown)},
		"nulls are not there": {line: `{"id":"1",` + spoken + `,"truth":null,"tactics":null,"dialogue":null,"manipulative":null}`, want: one(dialogue.Unknown)},
		"number as id":        {line: `{"id":1.0,` + spoken + `}`, want: one(dialogue.Unknown)},
		"mark and CRLF":       {line: "\ufeff\r\n" + `{"id":"1",` + spoken + "}\r\n\r\n", want: one(dialogue.Unknown)},
		"written dialogue":    {line: `{"id":"1","dialogue":"Ann: Hi.\nBob: No."}`, want: one(dialogue.Unknown)},

		"unknown fields, once": {
			line: `{"id":"1",` + spoken + `,"tactic":"Denial","a":1}` + "\n" + `{"id":"1",` + spoken + `,"tactic":"Denial"}`,
			want: one(dialogue.Unknown),
			problems: []finding{
				{"1", dialogue.UnknownField, false}, {"1", dialogue.UnknownField, false}, {"1", dialogue.DuplicateID, true},
			},
		},
		"line break in a turn": {
			line:     `{"id":"1","turns":[{"speaker":" Ann\u0000","text":"Hi.\r\nBob: No. "}]}`,
			want:     []dialogue.Dialogue{{ID: "1", Turns: turns("Ann", "Hi. Bob: No.")}},
			problems: []finding{{"1", dialogue.Continuation, false}, {"1", dialogue.ControlCharacters, false}},
		},
		"broken line among good ones": {
			line: `{"id":"1",` + spoken + "}\n{\"id\":\n", want: one(dialogue.Unknown), problems: []finding{{"", dialogue.BadJSON, true}},
		},
		"no speaker":      {line: `{"id":"1","turns":[{"speaker":" ","text":"Hi."}]}`, problems: fatal(dialogue.NoSpeaker)},
		"colon in label":  {line: `{"id":"1","turns":[{"speaker":"a: b","text":"Hi."}]}`, problems: fatal(dialogue.BadSpeaker)},
		"long label":      {line: `{"id":"1","turns":[{"speaker":"` + strings.Repeat("a", 201) + `","text":"Hi."}]}`, problems: fatal(dialogue.BadSpeaker)},
		"no turns":        {line: `{"id":"1","turns":[]}`, problems: fatal(dialogue.NoTurns)},
		"neither form":    {line: `{"id":"1"}`, problems: fatal(dialogue.NoTurns)},
		"both forms":      {line: `{"id":"1",` + spoken + `,"dialogue":"Ann: Hi."}`, problems: fatal(dialogue.BadField)},
		"both truths":     {line: `{"id":"1",` + spoken + `,"truth":"YES","manipulative":1}`, problems: fatal(dialogue.BadField)},
		"turns of a text": {line: `{"id":"1","turns":"Ann: Hi."}`, problems: fatal(dialogue.BadField)},
		"truth maybe":     {line: `{"id":"1",` + spoken + `,"truth":"maybe"}`, problems: fatal(dialogue.BadTruth)},
		"manipulative 2":  {line: `{"id":"1",` + spoken + `,"manipulative":2}`, problems: fatal(dialogue.BadTruth)},
		"no id":           {line: `{` + spoken + `}`, problems: []finding{{"", dialogue.BadID, true}}},
		"list as id":      {line: `{"id":[1],` + spoken + `}`, problems: []finding{{"", dialogue.BadID, true}}},
		"null as id":      {line: `{"id":null,` + spoken + `}`, problems: []finding{{"", dialogue.BadID, true}}},
		"too many turns":  {line: `{"id":"1","turns":[` + strings.Repeat("{},", 500) + `{}]}`, problems: fatal(dialogue.TooLarge)},
		"too large":       {line: `{"id":"1","turns":[{"speaker":"Ann","text":"` + strings.Repeat("a", 1<<20) + `"}]}`, problems: fatal(dialogue.TooLarge)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := dialogue.ReadJSONL(strings.NewReader(test.line))
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

func TestReadJSONLRefusesTheFile(t *testing.T) {
	for file, want := range map[string]string{
		"":             "empty",
		"\n \n":        "empty",
		"\n[{\n":       "line 2",
		header:         "line 1",
		"\xfe\xff\x00": "UTF-16",
	} {
		if _, err := dialogue.ReadJSONL(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadJSONL(%q): %v, want an error with %q", file, err, want)
		}
	}
}

func TestReadChoosesTheForm(t *testing.T) {
	csv, jsonl := header+"1,Person1: Hi.,1,,\n", `{"id":"1","turns":[{"speaker":"Person1","text":"Hi."}],"truth":"YES"}`
	for name, file := range map[string]string{"a.csv": csv, "a.JSONL": jsonl, "a.ndjson": jsonl, "a": csv, "-": "\ufeff\n" + jsonl} {
		got, err := dialogue.Read(name, strings.NewReader(file))
		if err != nil || len(got.Dialogues) != 1 || got.Dialogues[0].Truth != dialogue.Yes {
			t.Errorf("Read(%q) = %v, %v", name, got.Dialogues, err)
		}
	}
	if _, err := dialogue.Read("a.csv", strings.NewReader(jsonl)); err == nil {
		t.Error("a JSON line passes as CSV")
	}
}

func TestMarshalIsCanonical(t *testing.T) {
	d := dialogue.Dialogue{ID: "a/b", Turns: turns("Person1", `a < b & "c"`), Truth: dialogue.Yes, Tactics: []tactic.Tactic{tactic.Denial}}
	const want = `{"id":"a/b","turns":[{"speaker":"Person1","text":"a < b & \"c\""}],"truth":"YES","tactics":["Denial"]}`
	if got, err := dialogue.Marshal(d); err != nil || string(got) != want {
		t.Errorf("Marshal = %s, %v\nwant %s", got, err, want)
	}
}

func TestParseLineRefuses(t *testing.T) {
	for line, want := range map[string]string{
		``:                    "bad_json",
		`null`:                "bad_json",
		`{"id":"7"}`:          `"7": no_turns`,
		`{"id":"7"}{"id":""}`: "bad_json",
	} {
		if d, err := dialogue.ParseLine([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseLine(%q) = %v, %v; want an error with %q", line, d, err, want)
		}
	}
}

func FuzzReadJSONL(f *testing.F) {
	f.Add([]byte(`{"id":1.0,"turns":[{"speaker":"A","text":"Hi."}],"truth":"YES","tactics":["Denial"]}`))
	f.Add([]byte("{\"id\":\"x\",\"dialogue\":\": \\nPerson1: a\\u0000\\ud800\\r\\nnote\",\"manipulative\":0}\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := dialogue.ReadJSONL(strings.NewReader(string(data))); err == nil {
			requireRoundTrip(t, got)
		}
	})
}
