package evaluation

import "fmt"

// Divide returns the items in chunks of at most size, in their order.
func Divide(items []Item, size int) []Chunk {
	var chunks []Chunk
	for from := 0; from < len(items); from += size {
		chunks = append(chunks, Chunk{Items: items[from:min(from+size, len(items))]})
	}
	return chunks
}

// Alias names the item at a place, where Temporal must not show ids; "" where it may.
func (s Spec) Alias(place int) string {
	if !s.Private {
		return ""
	}
	return fmt.Sprintf("%06d", place)
}

// Again is the spec of judging the clips of an evaluation with this spec once more,
// afresh and under another id. The budget was that evaluation's and is not kept.
func (s Spec) Again(id string) Spec {
	s.Dataset.Clips, s.Dataset.From = true, s.ID
	s.ID, s.Detection.Passes, s.Budget = id, PassesFresh, Budget{}
	return s
}
