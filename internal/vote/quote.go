package vote

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

// Quote is a piece of evidence as it is stored and shown.
type Quote struct {
	Text     string `json:"text"`      // "" when the detector gave none
	Words    int    `json:"words"`     // in the whole quote, before any cut
	OverLong bool   `json:"over_long"` // Words is above the rules' limit; under QuoteCut, Text was cut
}

// AsksEvidence reports whether a verdict is asked for a quote, and which tactic
// the question names; "" names none.
func (r Rules) AsksEvidence(v Verdict, t tactic.Tactic) (ask bool, named tactic.Tactic) {
	if v != Yes {
		return false, ""
	}
	if r.Evidence == EvidenceTactic {
		return t != "" && t != tactic.None, t
	}
	return true, ""
}

// NormalizeQuote returns a detector's quote under the rules, on one line and as
// valid UTF-8. The text may hold anything.
func NormalizeQuote(text string, r Rules) Quote {
	text = normalizeMarks(text)
	if r.Quote == QuoteCut {
		text = stripQuote(text)
	}
	words := strings.Fields(text)
	out := Quote{Text: text, Words: len(words), OverLong: len(words) > r.QuoteWords}
	if out.OverLong && r.Quote == QuoteCut {
		out.Text = trimMarks(strings.Join(words[:max(r.QuoteWords, 0)], " "))
	}
	return out
}

var plainMarks = strings.NewReplacer(
	"“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`, "″", `"`, "＂", `"`,
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "′", "'", "＇", "'",
)

// normalizeMarks makes quote marks plain, collapses whitespace and control
// characters, and takes off the marks around the whole quote.
func normalizeMarks(text string) string {
	text = plainMarks.Replace(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	for len(text) >= 2 && text[0] == text[len(text)-1] && (text[0] == '"' || text[0] == '\'') {
		inner := text[1 : len(text)-1]
		if text[0] == '"' && strings.Contains(inner, `"`) {
			break // two quotes, not one around everything
		}
		text = strings.TrimSpace(inner)
	}
	return text
}

// quotePrefixes are what a model puts before a quote although told not to.
var quotePrefixes = []string{"reason:", "example:", "description:", "tactic:", "source:", "effect:", "audio:"}

var urls = regexp.MustCompile(`(?i)https?://\S*`)

// stripQuote takes the first quoted part where there is one, and drops prefixes,
// URLs and the marks at both ends.
func stripQuote(text string) string {
	if _, rest, ok := strings.Cut(text, `"`); ok {
		if quoted, _, ok := strings.Cut(rest, `"`); ok && quoted != "" {
			text = quoted
		}
	}
	text = trimMarks(strings.Join(strings.Fields(urls.ReplaceAllString(text, "")), " "))
	for {
		rest, found := cutPrefix(text)
		if !found {
			return text
		}
		text = trimMarks(strings.TrimLeft(rest, " :,-"))
	}
}

func cutPrefix(text string) (string, bool) {
	for _, prefix := range quotePrefixes {
		if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
			return text[len(prefix):], true
		}
	}
	return text, false
}

func trimMarks(text string) string { return strings.Trim(text, ` "'`) }
