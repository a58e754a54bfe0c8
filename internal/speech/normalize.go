package speech

import (
	"html"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// NormalizerVersion changes with every change of what Normalize returns. It is
// part of the key of stored turn audio.
const NormalizerVersion = "1"

// Normalize makes a turn's text speakable: it returns what a reader would say
// aloud, with nothing in it that engines spell out, choke on or take for markup.
//
//   - Typographic quotes, dashes, ellipses and spaces become plain ones; letters
//     of every script and accent stay (engines that need ASCII see ASCII).
//   - Markup (<b>, &amp;) and stage directions go: all of [...]; (...) and *...*
//     only when they begin with a word such as "sighs" or "pause". Words are
//     never dropped on a guess: "I *never* said that" is emphasis.
//   - The words in _emphasis_ stay. "--", a loose hyphen and parentheses become
//     a comma, that is a pause.
//   - "&", "+", "=", "@", "#", "<" and ">" become words where they stand for
//     one ("a < b", "#12"); every other symbol, emoji and stray bracket goes.
//   - SHOUTED words are lower-cased, acronyms stay, and loooong letters shrink.
//
// The result is valid UTF-8 on one line, without space at its ends. It is empty
// when the text has no word. Normalize(Normalize(x)) equals Normalize(x).
func Normalize(text string) string {
	text = plain(text)
	text = withoutDirections(text)
	text = spokenSymbols(text)
	text = withoutAsides(text)
	text = calm(text)
	text = punctuated(text)
	if !HasWords(text) {
		return ""
	}
	return text
}

// HasWords tells whether there is anything to say: a letter or a digit. Ask it
// about normalised text.
func HasWords(text string) bool { return strings.ContainsFunc(text, wordRune) }

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

var (
	entity = regexp.MustCompile(`&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});`)
	// A character that was lost on the way: before a contraction's end it was an
	// apostrophe, mostly one of Windows-1252.
	lostApostrophe = regexp.MustCompile(`(\p{L})\x{FFFD}((?:s|t|d|m|re|ve|ll)\b)`)
)

var typography = strings.NewReplacer(
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "′", "'", "ʼ", "'", "`", "'", "´", "'",
	"“", `"`, "”", `"`, "„", `"`, "‟", `"`, "″", `"`, "«", `"`, "»", `"`,
	"‐", "-", "‑", "-", "‒", "-", "–", "-", "−", "-", "—", "--", "―", "--",
	"…", "...", "⁄", "/",
	"，", ", ", "、", ", ", "。", ". ", "；", "; ", "：", ": ", "？", "? ", "！", "! ",
	"\uFFFD", " ",
)

// plain decodes entities, composes letters, and leaves ASCII punctuation and
// spaces only, on one line, without invisible characters.
func plain(text string) string {
	text = entity.ReplaceAllStringFunc(text, html.UnescapeString)
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(visible, text)
	text = lostApostrophe.ReplaceAllString(norm.NFC.String(text), "$1'$2")
	text = strings.ReplaceAll(typography.Replace(text), "''", `"`)
	var out strings.Builder
	previous := ' '
	for _, r := range text {
		if unicode.IsMark(r) && !wordRune(previous) && !unicode.IsMark(previous) {
			continue // an accent on nothing
		}
		out.WriteRune(r)
		previous = r
	}
	return out.String()
}

// visible maps every kind of space to ' ' and drops control and format
// characters (zero-width, direction marks, soft hyphens).
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.In(r, unicode.Cc, unicode.Cf):
		return -1
	}
	return r
}
