package speech

import (
	"strings"
	"unicode"
)

// punctuated sets one mark, with no space before it and one after it, wherever
// there are several between two words; none before the first word and no comma
// after the last.
func punctuated(text string) string {
	runes := []rune(text)
	var out strings.Builder
	for i := 0; i < len(runes); {
		if !isGap(runes[i]) {
			out.WriteRune(runes[i])
			i++
			continue
		}
		end := i
		for end < len(runes) && isGap(runes[end]) {
			end++
		}
		gap := runes[i:end]
		first, last := i == 0, end == len(runes)
		decimal := !last && unicode.IsDigit(runes[end]) && // ".38": the point belongs to the number
			(len(gap) == 1 && first || len(gap) > 1 && string(gap[len(gap)-2:]) == " .")
		if decimal {
			gap = gap[:len(gap)-1]
		}
		switch {
		case first:
		case last:
			out.WriteString(strings.TrimRight(mark(gap), ",;:"))
		case len(gap) == 1 && insideWord(runes[i-1], gap[0], runes[end]):
			out.WriteRune(gap[0])
		default:
			out.WriteString(mark(gap))
			if gap[len(gap)-1] == ' ' || !isQuote(runes[end]) {
				out.WriteByte(' ')
			}
		}
		if decimal {
			out.WriteByte('.')
		}
		i = end
	}
	return out.String()
}

func isGap(r rune) bool { return strings.ContainsRune(" .,;:?!", r) }

func isQuote(r rune) bool { return r == '"' || r == '\'' }

// insideWord tells whether the mark, without space around it, is part of a word
// or number: "U.S.", "3:30", "3,000".
func insideWord(before, mark, after rune) bool {
	switch mark {
	case '.', ':':
		return wordRune(before) && wordRune(after)
	case ',':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	}
	return false
}

// mark returns the strongest mark of the gap between two words, "" for none.
func mark(gap []rune) string {
	text := string(gap)
	if strings.Count(text, ".") > 1 && !strings.ContainsAny(text, "?!") {
		return "..."
	}
	for _, r := range "?!;:.," {
		if strings.ContainsRune(text, r) {
			return string(r)
		}
	}
	return ""
}
