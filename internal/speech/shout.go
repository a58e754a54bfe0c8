package speech

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var word = regexp.MustCompile(`[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*`)

// calm lower-cases shouted words, which engines spell out or misread, and
// shortens loooong ones.
func calm(text string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if isShouted(w) {
			w = norm.NFC.String(strings.ToLower(w)) // "İ" becomes two characters
		}
		return shortened(w)
	})
}

// Words of up to three letters are mostly acronyms when in capitals, except
// these (not IT, US, OR and others that are both); longer ones are mostly words,
// except those in acronyms.
var (
	shortWords = wordSet(`all an and any are as be big boy but by can did die do for get go god got had has he her
		hey him his how huh if in is let man me mr mrs my no not now of off oh old on one our out own say see
		she sit six so the to too try two up was way we who why yes yet you`)
	acronyms = wordSet(`aids asap awol fema imax isis kgbs lapd lgbt lsat mdma mensa nasa nato ncis nypd oecd peta pbs
		rotc rsvp swat ucla unesco unicef usaf usda ymca ywca`)
	contractions = wordSet(`d ll m re t ve`)
)

// isShouted tells whether a word in capitals is one that is shouted, and no
// acronym, initial or roman numeral. A single letter is not.
func isShouted(w string) bool {
	if w != strings.ToUpper(w) || utf8.RuneCountInString(w) < 2 {
		return false
	}
	stem, ending, _ := strings.Cut(strings.ToLower(w), "'")
	if contractions[ending] || shortWords[stem] {
		return true
	}
	return utf8.RuneCountInString(stem) > 3 && !acronyms[stem]
}

// shortened cuts a lower-case letter that is drawn out over three places or
// more to two for a vowel ("nooooo" is "noo") and one for a consonant ("yeahhh"
// is "yeah"). The iii and xxx of roman numerals and www stay.
func shortened(w string) string {
	runes := []rune(w)
	out := runes[:0:0]
	for i := 0; i < len(runes); {
		r, end := runes[i], i+1
		for end < len(runes) && runes[end] == r {
			end++
		}
		count := end - i
		if count > 2 && unicode.IsLower(r) && !strings.ContainsRune("iwx", r) {
			count = 1
			if strings.ContainsRune("aeou", r) {
				count = 2
			}
		}
		for range count {
			out = append(out, r)
		}
		i = end
	}
	return string(out)
}
