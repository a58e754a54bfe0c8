package pocketsphinx

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/recognize"
)

// printed is real output, shortened: two utterances, fillers, alternates and a
// confidence above 1.
const printed = `you never listen to me
<s> 0.000 0.170 1.000000
you 0.180 0.370 0.952747
to(2) 1.080 1.180 0.840112
<sil> 1.560 1.880 0.877555
[NOISE] 1.890 1.900 0.5
++COUGH++ 1.900 1.910 0.5
me 12.460 12.860 1.000100
</s> 12.870 13.220 1.000000

<s> 19.420 19.730 0.999700
i'm 19.870 19.960 0.998301
</s> 24.870 25.220 1.000000
`

func TestParse(t *testing.T) {
	want := []recognize.Word{
		{Text: "you", Start: .18, End: .37, Confidence: .952747},
		{Text: "to", Start: 1.08, End: 1.18, Confidence: .840112},
		{Text: "me", Start: 12.46, End: 12.86, Confidence: 1},
		{Text: "i'm", Start: 19.87, End: 19.96, Confidence: .998301},
	}
	got, err := parse(printed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseLines(t *testing.T) {
	tests := map[string]struct {
		line string
		text string // "" when the line is no word
		bad  bool
	}{
		"word":               {line: "hello 0.1 0.2 0.9", text: "hello"},
		"CRLF":               {line: "hello 0.1 0.2 0.9\r\n", text: "hello"},
		"tenth alternate":    {line: "the(10) 0.1 0.2 0.9", text: "the"},
		"empty":              {line: ""},
		"utterance":          {line: "four words in it"},
		"infinite utterance": {line: "to infinity nan inf"},
		"too few":            {line: "hello 0.1 0.2"},
		"too many":           {line: "hello 0.1 0.2 0.9 1"},
		"negative":           {line: "hello -0.1 0.2 0.9"},
		"parenthesis only":   {line: "(2) 0.1 0.2 0.9", text: "(2)"},
		"no number within":   {line: "a(b) 0.1 0.2 0.9", text: "a(b)"},
		"end before start":   {line: "hello 0.3 0.2 0.9", bad: true},
		"days":               {line: "hello 0.3 1e9 0.9", bad: true},
		"goes back":          {line: "a 5 6 1\nb 4 7 1", text: "a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(test.line)
			if (err != nil) != test.bad {
				t.Fatalf("parse(%q) error %v, want one: %v", test.line, err, test.bad)
			}
			text := ""
			if len(got) > 0 {
				text = got[0].Text
			}
			if text != test.text {
				t.Errorf("parse(%q) = %q, want %q", test.line, text, test.text)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(printed)
	f.Add("hello 0.1 0.2 0.9\n")
	f.Add("a 5 6 1\nb 4 7 1")
	f.Add("x(2) 1e308 1e309 nan\x00\xff")
	f.Fuzz(func(t *testing.T, output string) {
		words, err := parse(output)
		if err != nil {
			return
		}
		for _, w := range words {
			if w.Text == "" || !(w.Start >= 0 && w.End >= w.Start && w.End <= maxSeconds) || !(w.Confidence >= 0 && w.Confidence <= 1) {
				t.Errorf("word %+v", w)
			}
		}
	})
}
