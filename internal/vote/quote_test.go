package vote

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestNormalizeQuote(t *testing.T) {
	tests := []struct{ raw, paper, released string }{
		{"", "", ""},
		{" \n\t", "", ""},
		{`""`, "", ""},
		{"“You’ll  regret\nthis.”", "You'll regret this.", "You'll regret this."},
		{"'It's your fault'", "It's your fault", "It's your fault"},
		{"« ma chérie »", "ma chérie", "ma chérie"},
		{`She says "you owe me" again`, `She says "you owe me" again`, "you owe me"},
		{`"yes" and "no"`, `"yes" and "no"`, "yes"},
		{"Tactic: - Denial", "Tactic: - Denial", "Denial"},
		{"REASON: Source: you did it", "REASON: Source: you did it", "you did it"},
		{"look HTTPS://evil.example/x?y here", "look HTTPS://evil.example/x?y here", "look here"},
		{"a\x00b\xff", "a b\uFFFD", "a b\uFFFD"},
		{"none", "none", "none"},
	}
	for _, test := range tests {
		if got := NormalizeQuote(test.raw, Paper()).Text; got != test.paper {
			t.Errorf("paper: NormalizeQuote(%q) = %q, want %q", test.raw, got, test.paper)
		}
		if got := NormalizeQuote(test.raw, Released()).Text; got != test.released {
			t.Errorf("released: NormalizeQuote(%q) = %q, want %q", test.raw, got, test.released)
		}
	}
	twelve := strings.TrimSpace(strings.Repeat("word ", 12))
	for _, r := range []Rules{Paper(), Released()} {
		if got := NormalizeQuote(twelve, r); got.OverLong || got.Words != 12 {
			t.Errorf("%s: twelve words: %+v", r.Name, got)
		}
	}
}

func FuzzNormalizeQuote(f *testing.F) {
	for _, seed := range []string{"", `"a"`, "reason: reason: 'x", "“a” “b”", "hthttp://a http://b", "\xff\"' İhttp://x", strings.Repeat("w ", 40)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, r := range []Rules{Paper(), Released()} {
			got := NormalizeQuote(raw, r)
			if !utf8.ValidString(got.Text) || strings.TrimSpace(got.Text) != got.Text || strings.ContainsFunc(got.Text, unicode.IsControl) {
				t.Errorf("%s: %q gives %q: not one clean line", r.Name, raw, got.Text)
			}
			if again := NormalizeQuote(got.Text, r); r.Quote == QuoteFlag && again != got {
				t.Errorf("paper: %q gives %+v, and that %+v", raw, got, again)
			}
			words := len(strings.Fields(got.Text))
			if r.Quote == QuoteCut && (words > r.QuoteWords || strings.Contains(got.Text, "http://")) {
				t.Errorf("released: %q gives %q", raw, got.Text)
			}
			if words > got.Words || got.OverLong != (got.Words > r.QuoteWords) {
				t.Errorf("%s: %q gives %+v", r.Name, raw, got)
			}
		}
	})
}
