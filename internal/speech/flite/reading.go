package flite

import (
	"regexp"
	"strings"
)

// Flite spells words without a vowel letter by letter: "shh" is "S H H". These
// are the ones that people say.
var interjections = map[string]string{
	"hm": "hum", "hmm": "hum", "mm": "hum", "hmph": "humph",
	"mhm": "um hum", "mmhm": "um hum", "mmhmm": "um hum",
	"sh": "shush", "shh": "shush", "ssh": "shush", "psst": "pist", "pst": "pist", "pshht": "pisht",
	"tsk": "tisk", "brr": "burr", "grr": "gurr", "pfft": "pift",
}

var lettersOnly = regexp.MustCompile(`[A-Za-z]+`)

// readable replaces interjections that flite would spell; PST in capitals is no
// interjection.
func readable(text string) string {
	return lettersOnly.ReplaceAllStringFunc(text, func(word string) string {
		if said, ok := interjections[strings.ToLower(word)]; ok && word != strings.ToUpper(word) {
			return said
		}
		return word
	})
}
