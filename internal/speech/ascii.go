package speech

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Letters that have no ASCII letter inside them, and symbols with a word.
var asciiFor = strings.NewReplacer(
	"ß", "ss", "ẞ", "SS", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ø", "o", "Ø", "O",
	"ð", "d", "Ð", "D", "þ", "th", "Þ", "Th", "đ", "d", "Đ", "D", "ł", "l", "Ł", "L", "ı", "i",
	"€", " euros ", "£", " pounds ", "¥", " yen ", "¢", " cents ", "⁄", "/",
)

// ASCII returns normalised text for an engine that reads bytes: accents go,
// ligatures and the like become the letters they stand for, and what has no
// Latin letter becomes a space. Text in another script has no word left.
func ASCII(text string) string {
	text = asciiFor.Replace(norm.NFKD.String(asciiFor.Replace(text)))
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsMark(r):
			return -1
		case r > unicode.MaxASCII:
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
