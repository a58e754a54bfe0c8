package dialogue

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineBreaks makes every line break a line feed.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// cleaned is text made safe to pass on, and what had to change.
type cleaned struct {
	text     string
	invalid  bool // bytes that are no UTF-8 became U+FFFD
	replaced bool // U+FFFD stands in the source: characters were lost before
	control  bool // control characters became spaces
}

// clean keeps text as written except for what no speaker can say and what later
// steps (terminals, command arguments, markup) can't carry: bytes that are no
// UTF-8 become U+FFFD, line breaks line feeds, and control characters other than
// tabs spaces.
func clean(text string) cleaned {
	c := cleaned{invalid: !utf8.ValidString(text), replaced: strings.ContainsRune(text, utf8.RuneError)}
	if c.invalid {
		c.replaced = strings.Contains(text, "\uFFFD")
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	c.text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			c.control = true
			return ' '
		}
		return r
	}, lineBreaks.Replace(text))
	return c
}

// parsedText is a written dialogue taken apart.
type parsedText struct {
	turns        []Turn
	opening      bool // the first turn stands before any label and has no Speaker
	continuation int  // lines without a label, joined to the turn before them
}

// parseText takes a dialogue of "Speaker: text" lines apart. A line without a
// label continues the turn before it, joined by a space; blank lines are
// skipped. Lines before the first label form one turn without a speaker.
//
// A label is PersonN, as in MentalManip. Only in a dialogue without such labels
// is any single word a label, when a space or the line's end follows its colon;
// so "Note: call her" stays text where the speakers are Person1 and Person2.
func parseText(text string) parsedText {
	var parsed parsedText
	var pending strings.Builder // the text of the last turn
	lines := strings.Split(text, "\n")
	label := labelRule(lines)
	for _, line := range lines {
		line = strings.TrimSpace(line)
		speaker, rest, labelled := label(line)
		switch {
		case labelled:
			parsed.closeTurn(&pending)
			parsed.turns = append(parsed.turns, Turn{Speaker: speaker})
			pending.WriteString(rest)
		case line == "":
		case len(parsed.turns) == 0:
			parsed.opening = true
			parsed.turns = append(parsed.turns, Turn{})
			pending.WriteString(line)
		default:
			parsed.continuation++
			if pending.Len() > 0 {
				pending.WriteByte(' ')
			}
			pending.WriteString(line)
		}
	}
	parsed.closeTurn(&pending)
	return parsed
}

func (p *parsedText) closeTurn(pending *strings.Builder) {
	if len(p.turns) > 0 {
		p.turns[len(p.turns)-1].Text = pending.String()
	}
	pending.Reset()
}

// label splits a trimmed line into its speaker and its trimmed text.
type label func(line string) (Speaker, string, bool)

func labelRule(lines []string) label {
	for _, line := range lines {
		if _, _, ok := personLabel(strings.TrimSpace(line)); ok {
			return personLabel
		}
	}
	return nameLabel
}

var personPattern = regexp.MustCompile(`^Person[0-9]{1,6}$`)

func personLabel(line string) (Speaker, string, bool) {
	name, text, ok := strings.Cut(line, ":")
	if !ok || !personPattern.MatchString(name) {
		return "", "", false
	}
	return Speaker(name), strings.TrimSpace(text), true
}

var namePattern = regexp.MustCompile(`^\p{L}[\p{L}\p{M}\p{N}_.'’-]{0,39}$`)

func nameLabel(line string) (Speaker, string, bool) {
	name, text, ok := strings.Cut(line, ":")
	if !ok || !namePattern.MatchString(name) || (text != "" && strings.TrimLeftFunc(text, unicode.IsSpace) == text) {
		return "", "", false
	}
	return Speaker(name), strings.TrimSpace(text), true
}

var decimalZeros = regexp.MustCompile(`^([0-9]+)\.0+$`)

// wholeNumber trims text and undoes what spreadsheets do to whole numbers:
// "85514414.0" is "85514414". Other text is only trimmed.
func wholeNumber(text string) string {
	text = strings.TrimSpace(text)
	if match := decimalZeros.FindStringSubmatch(text); match != nil {
		return match[1]
	}
	return text
}

// quote quotes untrusted text for a message, cut to a readable length.
func quote(text string) string { return strconv.Quote(cut(text)) }

func cut(text string) string {
	const limit = 80
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + "…"
}

// printable escapes what could change a terminal's state or hide text: control,
// format and other non-printing characters.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
