// Package annotation holds people's judgments of items: it reads them from files,
// forms each item's consensus, and sets it against the truth and against the
// people themselves.
package annotation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Label is one person's judgment.
type Label string

// The labels. YES is manipulative.
const (
	Yes Label = "YES"
	No  Label = "NO"
)

// ParseLabel reads YES or NO in any case, 1 or 0, also in a spreadsheet's
// spelling 1.0 or 0.0. The error names the text that is none of these.
func ParseLabel(text string) (Label, error) {
	switch strings.ToUpper(wholeNumber(text)) {
	case "YES", "1":
		return Yes, nil
	case "NO", "0":
		return No, nil
	}
	return "", fmt.Errorf("%s is no label (valid: YES, NO, 1, 0)", quote(text))
}

// Modality is what the annotator was given.
type Modality string

// The modalities.
const (
	Text  Modality = "text"
	Audio Modality = "audio"
)

// ParseModality reads text or audio in any case.
func ParseModality(text string) (Modality, error) {
	switch m := Modality(strings.ToLower(strings.TrimSpace(text))); m {
	case Text, Audio:
		return m, nil
	}
	return "", fmt.Errorf("%s is no modality (valid: text, audio)", quote(text))
}

// Annotation is one judgment. An annotator judges an item once in a modality.
type Annotation struct {
	Item      string    `json:"item"`
	Modality  Modality  `json:"modality"`
	Annotator string    `json:"annotator"`
	Label     Label     `json:"label"`
	Time      time.Time `json:"time,omitzero"` // zero when the file has none
}

// Set is the annotations of one study.
type Set struct {
	Annotations []Annotation              // in the order read
	Items       map[Modality][]string     // those without a vote too, in the order read
	Truth       map[string]dialogue.Truth // of the items whose truth the files give
	Shown       map[string]Shown          // of the items of which the files tell it
}

// Shown is what annotators are given of an item: its text in one modality, its clip in
// the other.
type Shown struct {
	Text  string
	Audio string // a file's name or a URL
}

// Modalities returns those that have items, text first.
func (s Set) Modalities() []Modality {
	var have []Modality
	for _, m := range []Modality{Text, Audio} {
		if len(s.Items[m]) > 0 {
			have = append(have, m)
		}
	}
	return have
}

// Annotators returns who has judged at least one item of the modality, sorted.
func (s Set) Annotators(m Modality) []string {
	names := map[string]bool{}
	for _, a := range s.Annotations {
		if a.Modality == m {
			names[a.Annotator] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Select returns what the named annotators have judged; items that none of them
// has judged are left out.
func (s Set) Select(annotators []string) Set {
	selected := Set{Items: map[Modality][]string{}, Truth: s.Truth, Shown: s.Shown}
	judged := map[Modality]map[string]bool{Text: {}, Audio: {}}
	for _, a := range s.Annotations {
		if slices.Contains(annotators, a.Annotator) {
			selected.Annotations = append(selected.Annotations, a)
			judged[a.Modality][a.Item] = true
		}
	}
	for m, items := range s.Items {
		for _, item := range items {
			if judged[m][item] {
				selected.Items[m] = append(selected.Items[m], item)
			}
		}
	}
	return selected
}

// Votes returns the modality's annotations by item, each item's sorted by
// annotator.
func (s Set) Votes(m Modality) map[string][]Annotation {
	votes := map[string][]Annotation{}
	for _, a := range s.Annotations {
		if a.Modality == m {
			votes[a.Item] = append(votes[a.Item], a)
		}
	}
	for _, of := range votes {
		slices.SortFunc(of, func(a, b Annotation) int { return cmp.Compare(a.Annotator, b.Annotator) })
	}
	return votes
}
