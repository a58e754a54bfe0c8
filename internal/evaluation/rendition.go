package evaluation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/detect"
)

// Rendition is a dialogue in one of its castings: what is rendered and judged once.
type Rendition struct {
	ID      string // the dialogue's
	Casting int    // counted from 1
}

// Rendition returns which one the item is.
func (i Item) Rendition() Rendition { return Rendition{i.ID, max(i.CastingNumber, 1)} }

// Rendition returns which one the record is about.
func (r Record) Rendition() Rendition { return Rendition{r.ID, max(r.CastingNumber, 1)} }

// Compare orders renditions by id, then by casting.
func (r Rendition) Compare(other Rendition) int {
	return cmp.Or(cmp.Compare(r.ID, other.ID), cmp.Compare(r.Casting, other.Casting))
}

// FileName names a dialogue in one of its castings as one segment of a key, a
// workflow id or a path. EncodeID writes no lower-case letter after a "=", so that no
// other id's name is the same.
func FileName(id string, castingNumber int) string {
	if castingNumber == 0 {
		return EncodeID(id)
	}
	return fmt.Sprintf("%s=c%d", EncodeID(id), castingNumber)
}

// CastingLabel follows a dialogue's id where people read it; "" where the dialogue
// has one casting.
func CastingLabel(castingNumber int) string {
	if castingNumber == 0 {
		return ""
	}
	return fmt.Sprintf(" (casting %d)", castingNumber)
}

// Castings returns in how many castings every dialogue is judged.
func (s Spec) Castings() int { return max(s.Speech.Castings, 1) }

// CastingNumbers returns those of a dialogue's items: 0 alone where it has one.
func (s Spec) CastingNumbers() []int {
	if s.Castings() == 1 {
		return []int{0}
	}
	numbers := make([]int, s.Castings())
	for i := range numbers {
		numbers[i] = i + 1
	}
	return numbers
}

// Counted says how many items there are, for people.
func (s Spec) Counted(items int) string {
	switch {
	case s.Castings() > 1:
		return fmt.Sprintf("%d items (%d castings a dialogue)", items, s.Castings())
	case items == 1:
		return "1 dialogue"
	default:
		return fmt.Sprintf("%d dialogues", items)
	}
}

// checkCastings refuses castings that nobody would hear.
func (s Spec) checkCastings() error {
	switch {
	case s.Speech.Castings < 0:
		return fmt.Errorf("castings is %d, must be at least 1", s.Speech.Castings)
	case s.Castings() == 1:
		return nil
	case slices.Contains(s.Detection.Modalities(), detect.Text):
		return fmt.Errorf("%d castings with modality %s: a text has no voice and would be judged %[1]d times; use modality audio or asr, and another evaluation for the text", s.Castings(), s.Detection.Modality)
	}
	return nil
}
