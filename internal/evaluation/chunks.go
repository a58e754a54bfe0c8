package evaluation

import (
	"encoding/json"
	"fmt"
)

// maxChunkBytes bounds a chunk's JSON, which is a payload in Temporal's history:
// items with clips are long.
const maxChunkBytes = 48 << 10

// Divide returns the items in chunks, in their order: of at most size items, and as
// few as keep a chunk's JSON to 48 KiB.
func Divide(items []Item, size int) []Chunk {
	var chunks []Chunk
	var chunk Chunk
	bytes := 0
	for _, item := range items {
		text, _ := json.Marshal(item) // of plain values: it can't fail
		if n := len(chunk.Items); n > 0 && (n == size || bytes+len(text)+1 > maxChunkBytes) {
			chunks, chunk, bytes = append(chunks, chunk), Chunk{}, 0
		}
		chunk.Items = append(chunk.Items, item)
		bytes += len(text) + 1 // and a comma
	}
	if len(chunk.Items) > 0 {
		chunks = append(chunks, chunk)
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
