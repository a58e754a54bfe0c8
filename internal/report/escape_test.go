package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var escapedMark = regexp.MustCompile(`\\[[:punct:]]`)

// Whatever text is escaped, it is one line without markup of its own.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"plain, text. 0.5", "a|b", "[x](http://e.com)", "www.e.com", "<b>&amp;", "\\input{x}", "$x_1^2$", "%\n|", "\x1b[2J", "中é", "--", "{\\}", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for form, text := range map[string]string{"Markdown": markdown(s), "LaTeX": latex(s)} {
			if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%s: %q of %q is not printable", form, text, s)
			}
		}
		if left := escapedMark.ReplaceAllString(markdown(s), ""); strings.ContainsAny(left, "\\`*_{}[]<>#|~&!@:$") || strings.Contains(strings.ToLower(left), "www.") {
			t.Errorf("Markdown: %q of %q has markup", left, s)
		}
		left := escapedMark.ReplaceAllString(latex(s), "")
		left = regexp.MustCompile(`\\(text[a-z]+|char[0-9]+)\{\}|\{[\[\]]\}|\{\}`).ReplaceAllString(left, "")
		if strings.ContainsAny(left, "\\{}$&#%_~^<>|\"`[]") {
			t.Errorf("LaTeX: %q of %q has markup", left, s)
		}
	})
}
