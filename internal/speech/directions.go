package speech

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	markup  = regexp.MustCompile(`</?[A-Za-z][^<>]*>|<!--[^<>]*-->`)
	starred = regexp.MustCompile(`\*+([^*]+)\*+`)
)

// withoutDirections takes out markup, everything in square brackets and starred
// stage directions; other starred words are emphasis and stay.
func withoutDirections(text string) string {
	text = markup.ReplaceAllString(text, " ")
	text = without(text, '[', ']', func([]byte) bool { return true })
	return starred.ReplaceAllStringFunc(text, func(match string) string {
		inner := strings.Trim(match, "*")
		if isDirection([]byte(inner)) {
			return " "
		}
		return " " + inner + " "
	})
}

// withoutAsides takes out stage directions in parentheses; other parentheses
// are spoken, set off by a pause.
func withoutAsides(text string) string {
	text = without(text, '(', ')', isDirection)
	return strings.NewReplacer("(", ", ", ")", ", ").Replace(text)
}

// without replaces each pair of brackets and what is in it by a space where
// drop says so. Brackets without a partner stay.
func without(text string, opening, closing byte, drop func(inner []byte) bool) string {
	out := make([]byte, 0, len(text))
	var starts []int // of the brackets that are open, in out
	for i := range len(text) {
		switch text[i] {
		case opening:
			starts = append(starts, len(out))
		case closing:
			if len(starts) == 0 {
				break
			}
			start := starts[len(starts)-1]
			starts = starts[:len(starts)-1]
			if drop(out[start+1:]) {
				out = append(out[:start], ' ')
				continue
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}

// Words that begin a stage direction, as scripts and chats write them. Those
// of alone are directions only when no other word follows: "(pause)", but not
// "(pause it there)".
var (
	directing = wordSet(`sighs sighing laughs laughing chuckles chuckling giggles giggling gasps gasping groans
		groaning sobs sobbing cries crying coughs coughing sniffs sniffles sniffling snorts shrugs shrugging nods
		nodding winks winking grins grinning smirks smirking smiles smiling whispers whispering mutters muttering
		mumbles scoffs growls yawns gulps blushes frowns pauses hesitates`)
	alone = wordSet(`sigh laugh laughter chuckle giggle gasp groan sob cough shrug nod wink grin smirk smile pause
		beat silence inaudible crosstalk applause quietly softly sarcastically offscreen`)
)

func isDirection(inner []byte) bool {
	const longest = 60 // bytes; a longer one is something that is said
	if len(inner) > longest {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(string(inner)), func(r rune) bool { return !unicode.IsLetter(r) })
	switch {
	case len(words) == 0:
		return false
	case len(words) == 1 && alone[words[0]]:
		return true
	}
	return len(words) <= 5 && directing[words[0]]
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}
