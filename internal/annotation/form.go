package annotation

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Form is how annotations lie in a file.
type Form string

// The forms.
const (
	Long        Form = "long"        // CSV: a row a vote
	Wide        Form = "wide"        // CSV: a row an item, a column an annotator, of one modality
	LabelStudio Form = "labelstudio" // JSON: a list of tasks with their annotations
	Potato      Form = "potato"      // JSON lines: instances, and what an annotator said of each
	Metadata    Form = "metadata"    // JSON lines: the clips of `starter export`, without votes; only read
)

// ParseForm reads a form's name.
func ParseForm(name string) (Form, error) {
	forms := []Form{Long, Wide, LabelStudio, Potato, Metadata}
	if f := Form(name); slices.Contains(forms, f) {
		return f, nil
	}
	return "", fmt.Errorf("%s is no form (valid: %s)", quote(name), strings.Trim(fmt.Sprint(forms), "[]"))
}

// ReadForm reads files of one form as one study. The error is Problems when their
// text is at fault.
func ReadForm(form Form, sources ...Source) (Set, error) {
	b := newBuilder()
	switch form {
	case Long, Wide:
		return b.readAll((*builder).read, sources)
	case LabelStudio:
		b.unit = "task"
		return b.readAll((*builder).labelStudio, sources)
	case Potato:
		return b.readAll((*builder).potato, sources)
	case Metadata:
		return b.readAll((*builder).metadata, sources)
	}
	return Set{}, fmt.Errorf("%s is no form", quote(string(form)))
}

// Writing says how a set is written.
type Writing struct {
	Form     Form
	Modality Modality // only this; Wide has one at most
	// Truth has Label Studio and potato files hold the truth too. Annotators can see
	// what is in them, so it is for studies that have ended.
	Truth bool
	// AudioBase stands before the clips' names in Label Studio and potato files.
	AudioBase string
}

// Write writes a set in the form. It fails where the form can't hold the set.
func Write(w io.Writer, s Set, how Writing) error {
	modalities := s.Modalities()
	if how.Modality != "" {
		modalities = slices.DeleteFunc(modalities, func(m Modality) bool { return m != how.Modality })
	}
	if len(modalities) == 0 {
		return errors.New("there are no items to write")
	}
	if err := s.checkCells(how.Form); err != nil {
		return err
	}
	switch how.Form {
	case Long:
		return s.writeLong(w, modalities)
	case Wide:
		if len(modalities) > 1 {
			return errors.New("a wide file is of one modality, and there are items of text and of audio: name one")
		}
		return s.writeWide(w, modalities[0])
	case LabelStudio:
		return s.writeLabelStudio(w, modalities, how)
	case Potato:
		return s.writePotato(w, modalities, how)
	}
	return fmt.Errorf("the form %s is only read", how.Form)
}

// checkCells refuses names that a spreadsheet would take for a formula: they can't be
// marked as text and still be the same names.
func (s Set) checkCells(form Form) error {
	if form != Long && form != Wide {
		return nil
	}
	for _, a := range s.Annotations {
		if formula(a.Annotator) {
			return fmt.Errorf("annotator %s: a spreadsheet would take the name for a formula: give another", quote(a.Annotator))
		}
	}
	for _, items := range s.Items {
		for _, item := range items {
			if formula(item) {
				return fmt.Errorf("item %s: a spreadsheet would take the name for a formula: give another", quote(item))
			}
		}
	}
	return nil
}

func formula(text string) bool { return text != "" && strings.ContainsRune("=+-@", rune(text[0])) }

// task is an item in one modality, with its votes.
type task struct {
	item     string
	modality Modality
	votes    []Annotation // by annotator
	truth    dialogue.Truth
	shown    Shown
}

// tasks are the modality's items in the order read.
func (s Set) tasks(m Modality) []task {
	votes := s.Votes(m)
	out := make([]task, 0, len(s.Items[m]))
	for _, item := range s.Items[m] {
		out = append(out, task{item: item, modality: m, votes: votes[item], truth: s.Truth[item], shown: s.Shown[item]})
	}
	return out
}

// audioOf is where an annotator's program finds the task's clip; "" where that is not
// known.
func (t task) audioOf(base string) string {
	if t.shown.Audio == "" {
		return ""
	}
	return base + t.shown.Audio
}
