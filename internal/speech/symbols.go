package speech

import (
	"strings"
	"unicode"
)

// spokenSymbols leaves letters, numbers, the punctuation that engines turn into
// pauses, quotes and parentheses. Symbols that stand for a word become it, where
// they stand like one; all others become a space.
func spokenSymbols(text string) string {
	runes := []rune(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	var out strings.Builder
	for i := 0; i < len(runes); i++ {
		r, before, after := runes[i], at(i-1), at(i+1)
		switch {
		case r == '-':
			end := i
			for at(end+1) == '-' {
				end++
			}
			out.WriteString(hyphens(before, end-i+1, at(end+1)))
			i = end
		case wordRune(r), unicode.IsMark(r), strings.ContainsRune(` .,;:?!'"()`, r):
			out.WriteRune(r)
		case r == '/' && isFraction(at(i-2), before, after, at(i+2)):
			out.WriteRune(r)
		case r == '%' && unicode.IsDigit(before), unicode.Is(unicode.Sc, r) && unicode.IsDigit(after):
			out.WriteRune(r)
		case r == '&':
			out.WriteString(" and ")
		case r == '#' && unicode.IsDigit(after):
			out.WriteString(" number ")
		case betweenWords(runes, i):
			out.WriteString(operator[r])
		default:
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// operator holds what is said for a symbol between two words or numbers.
var operator = map[rune]string{
	'<': " less than ", '>': " greater than ", '+': " plus ", '=': " equals ", '@': " at ",
}

// betweenWords tells whether the operator at i has a word or number on either
// side, with space on both sides or on neither: "a < b" and "3+4", not "<3".
func betweenWords(runes []rune, i int) bool {
	if _, ok := operator[runes[i]]; !ok || i == 0 || i == len(runes)-1 {
		return false
	}
	left, right := i-1, i+1
	if (runes[left] == ' ') != (runes[right] == ' ') {
		return false
	}
	if runes[left] == ' ' {
		left, right = left-1, right+1
	}
	return left >= 0 && right < len(runes) && wordRune(runes[left]) && wordRune(runes[right])
}

// hyphens returns what count hyphens in a row become. One inside a word or
// before a number stays; others are a pause, or nothing where a word begins.
func hyphens(before rune, count int, after rune) string {
	ended := wordRune(before) || unicode.IsMark(before)
	switch {
	case count > 1:
		return ", "
	case ended && wordRune(after), before == ' ' && unicode.IsDigit(after):
		return "-"
	case wordRune(after):
		return " "
	}
	return ", "
}

// isFraction tells whether the digits around a slash are a fraction such as 1/2
// and no date or score: one digit on each side.
func isFraction(before2, before, after, after2 rune) bool {
	part := func(r rune) bool { return unicode.IsDigit(r) || r == '/' }
	return unicode.IsDigit(before) && unicode.IsDigit(after) && !part(before2) && !part(after2)
}
