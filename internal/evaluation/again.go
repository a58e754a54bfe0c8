package evaluation

import "fmt"

// Again returns an evaluation's items for judging them once more, with the clips
// and timelines that its records name. Where clips are heard, it names what has none
// and leaves it out: nothing is made for it.
func Again(items []Item, records []Record, heard bool) (kept []Item, leftOut []Excluded) {
	found := make(map[Rendition]Record, len(records))
	for _, r := range records {
		found[r.Rendition()] = r
	}
	for _, item := range items {
		r, known := found[item.Rendition()]
		again := Item{ID: item.ID, Line: item.Line, CastingNumber: item.CastingNumber, Clip: item.Clip, Timeline: item.Timeline}
		if !r.Clip.IsZero() {
			again.Clip, again.Timeline = r.Clip, r.Timeline
		}
		reason := ""
		switch {
		case !heard || !again.Clip.IsZero():
		case !known:
			reason = "no clip: it has no record yet"
		case r.Failure != nil:
			reason = fmt.Sprintf("no clip: it failed (%s)", r.Failure.Code)
		default:
			reason = "no clip: its text alone was judged"
		}
		if reason != "" {
			leftOut = append(leftOut, Excluded{ID: item.ID, CastingNumber: item.CastingNumber, Reason: reason})
			continue
		}
		kept = append(kept, again)
	}
	return kept, leftOut
}
