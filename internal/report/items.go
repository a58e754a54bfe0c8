package report

import (
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// exemplars finds records of dialogues that a prompt shows, or may show. Whoever
// starts an evaluation leaves them out; this is for a manifest that did not.
type exemplars struct {
	ids, texts, clips map[string]bool
	castings          map[evaluation.Rendition]bool // left out alone
}

func findExemplars(records []evaluation.Record, in Input) exemplars {
	e := exemplars{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[evaluation.Rendition]bool{}}
	for _, id := range in.Manifest.Spec.Rules.ExemplarIDs {
		e.ids[id] = true
	}
	for _, excluded := range in.Manifest.Exemplars {
		if n := excluded.CastingNumber; n > 0 {
			e.castings[evaluation.Rendition{ID: excluded.ID, Casting: n}] = true
			continue
		}
		e.ids[excluded.ID] = true
	}
	for _, shown := range in.Shown {
		e.ids[shown.ID] = true
		e.clips[shown.Item.Clip.SHA256] = true
	}
	for _, hash := range in.ShownTexts {
		e.texts[hash] = true
	}
	for _, r := range records {
		if e.ids[r.ID] {
			e.texts[r.TextHash] = true
			e.clips[r.Clip.SHA256] = true
		}
	}
	// What a record doesn't have makes it nobody's copy.
	delete(e.texts, "")
	delete(e.clips, "")
	return e
}

// reason says why a record must not be scored; "" when it may be.
func (e exemplars) reason(r evaluation.Record) string {
	switch {
	case e.ids[r.ID], e.castings[r.Rendition()]:
		return "exemplar"
	case e.texts[r.TextHash]:
		return "same text as an exemplar"
	case e.clips[r.Clip.SHA256]:
		return "same clip as an exemplar"
	default:
		return ""
	}
}

// seenSet finds items by id and by text, as either may have changed.
type seenSet struct{ ids, texts map[string]bool }

func newSeenSet(seen detect.Seen) seenSet {
	set := seenSet{map[string]bool{}, map[string]bool{}}
	for _, id := range seen.IDs {
		set.ids[id] = true
	}
	for _, hash := range seen.TextHashes {
		set.texts[hash] = true
	}
	return set
}

func (s seenSet) has(r evaluation.Record) bool { return s.ids[r.ID] || s.texts[r.TextHash] }
