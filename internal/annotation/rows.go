package annotation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// notAnnotators are the wide form's columns that hold no votes.
var notAnnotators = []string{"id", "mentalmanip", "manipulative", "audio file name", "dialogue", "technique", "vulnerability", ""}

// wide returns what reads rows of an item each.
func (b *builder) wide(h header) (func(line int, record []string), bool) {
	modality := b.source.Modality
	switch {
	case h.has("audio file name") && modality == Text:
		b.problem(1, "the column Audio File Name says that this is audio, not text")
		return nil, false
	case h.has("audio file name"):
		modality = Audio
	case modality == "":
		modality = Text
	}
	truth := "mentalmanip"
	if !h.has(truth) {
		truth = "manipulative"
	}
	columns := map[int]string{}
	var order []int
	for i, name := range h.names {
		if slices.Contains(notAnnotators, strings.ToLower(name)) {
			continue
		}
		if !b.annotator(1, name) {
			return nil, false
		}
		columns[i] = name
		order = append(order, i)
	}
	if len(order) == 0 {
		b.problem(1, "no column is an annotator's: there are only %s", quoteAll(h.names))
		return nil, false
	}
	return func(line int, record []string) {
		key, ok := b.item(line, modality, h.field(record, "id"))
		if !ok {
			return
		}
		if b.items[key] {
			b.problem(line, "the item %s is there more than once in %s", quote(key.item), modality)
			return
		}
		b.addItem(key)
		b.truth(line, key.item, h.field(record, truth))
		b.shown(key.item, Shown{Text: h.field(record, "dialogue"), Audio: h.field(record, "audio file name")})
		for _, i := range order {
			text := strings.TrimSpace(record[i])
			if text == "" {
				continue
			}
			label, err := ParseLabel(text)
			if err != nil {
				b.problem(line, "column %s: %v; in this form a column of another name than ID, MentalManip, Audio File Name or Dialogue is an annotator's",
					quote(columns[i]), err)
				continue
			}
			b.vote(line, Annotation{Item: key.item, Modality: modality, Annotator: columns[i], Label: label})
		}
	}, true
}

// long returns what reads rows of a vote each.
func (b *builder) long(h header) (func(line int, record []string), bool) {
	for _, name := range []string{"item", "modality"} {
		if !h.has(name) {
			b.problem(1, "the column %s is missing; there are %s", name, quoteAll(h.names))
			return nil, false
		}
	}
	return func(line int, record []string) {
		modality, err := ParseModality(h.field(record, "modality"))
		if err != nil {
			b.problem(line, "%v", err)
			return
		}
		key, ok := b.item(line, modality, h.field(record, "item"))
		name := h.field(record, "annotator")
		if !ok || !b.annotator(line, name) {
			return
		}
		label, err := ParseLabel(h.field(record, "label"))
		if err != nil {
			b.problem(line, "%v", err)
			return
		}
		a := Annotation{Item: key.item, Modality: modality, Annotator: name, Label: label}
		if text := h.field(record, "time"); text != "" {
			if a.Time, err = time.Parse(time.RFC3339, text); err != nil {
				b.problem(line, "the time %s is not as in RFC 3339, e.g. 2026-01-31T12:00:00Z", quote(text))
				return
			}
		}
		if !b.items[key] {
			b.addItem(key)
		}
		b.truth(line, key.item, h.field(record, "truth"))
		b.vote(line, a)
	}, true
}

// item checks an item's name.
func (b *builder) item(line int, m Modality, text string) (itemKey, bool) {
	name := wholeNumber(text)
	if reason := badName(name); reason != "" {
		b.problem(line, "the item's name %s", reason)
		return itemKey{}, false
	}
	return itemKey{m, name}, true
}

func (b *builder) addItem(key itemKey) {
	b.items[key] = true
	b.set.Items[key.modality] = append(b.set.Items[key.modality], key.item)
}

// annotator checks an annotator's name.
func (b *builder) annotator(line int, name string) bool {
	if b.annotators[name] {
		return true
	}
	if reason := badName(name); reason != "" {
		b.problem(line, "the annotator's name %s", reason)
		return false
	}
	if len(b.annotators) == MaxAnnotators {
		b.problem(line, "%s is one annotator too many: at most %d are allowed", quote(name), MaxAnnotators)
		return false
	}
	b.annotators[name] = true
	return true
}

func (b *builder) vote(line int, a Annotation) {
	key := voteKey{itemKey{a.Modality, a.Item}, a.Annotator}
	if first, ok := b.votes[key]; ok {
		b.problem(line, "annotator %s has judged item %s in %s before (%s)", quote(a.Annotator), quote(a.Item), a.Modality, first)
		return
	}
	b.votes[key] = place{b.source.Name, b.unit, line}
	b.set.Annotations = append(b.set.Annotations, a)
}

// shown adds what is known of what annotators were shown of an item.
func (b *builder) shown(item string, s Shown) {
	was := b.set.Shown[item]
	if s = (Shown{Text: cmp.Or(was.Text, s.Text), Audio: cmp.Or(was.Audio, s.Audio)}); s != (Shown{}) {
		b.set.Shown[item] = s
	}
}

// truth keeps an item's truth, if the text gives one.
func (b *builder) truth(line int, item, text string) {
	if text == "" {
		return
	}
	label, err := ParseLabel(text)
	if err != nil {
		b.problem(line, "the truth %v", err)
		return
	}
	truth := dialogue.Truth(label) // both are YES or NO
	if first, ok := b.truths[item]; !ok {
		b.truths[item] = place{b.source.Name, b.unit, line}
		b.set.Truth[item] = truth
	} else if b.set.Truth[item] != truth {
		b.problem(line, "the truth of item %s is %s here and %s before (%s)", quote(item), truth, b.set.Truth[item], first)
	}
}

// badName returns why a name can't be used; "" if it can.
func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxNameBytes:
		return fmt.Sprintf("has %d bytes; at most %d are allowed", len(name), MaxNameBytes)
	case !utf8.ValidString(name), strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }):
		return quote(name) + " holds control, invisible or broken characters"
	}
	return ""
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
func quote(text string) string {
	const limit = 60
	if utf8.RuneCountInString(text) > limit {
		text = string([]rune(text)[:limit]) + "…"
	}
	return strconv.Quote(text)
}

// quoteAll quotes the first of the texts.
func quoteAll(texts []string) string {
	const most = 12
	var quoted []string
	for i, text := range texts {
		if i == most {
			quoted = append(quoted, fmt.Sprintf("and %d more", len(texts)-most))
			break
		}
		quoted = append(quoted, quote(text))
	}
	return strings.Join(quoted, ", ")
}
