package evaluation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

func TestDivide(t *testing.T) {
	hash := strings.Repeat("5", 64)
	ref := objectstore.Ref{Key: "clips/" + hash + ".wav", SHA256: hash, Size: 1_000_000}
	items := func(n int, change func(*Item)) []Item {
		out := make([]Item, n)
		for i := range out {
			out[i] = Item{ID: fmt.Sprint(i), Line: Slice{Offset: int64(1000 * i), Length: 1000, SHA256: hash}}
			change(&out[i])
		}
		return out
	}
	for name, row := range map[string]struct {
		items  []Item
		size   int
		chunks int
	}{
		"none":       {nil, 200, 0},
		"one":        {items(1, func(*Item) {}), 200, 1},
		"by size":    {items(401, func(*Item) {}), 200, 3},
		"just":       {items(400, func(*Item) {}), 200, 2},
		"with clips": {items(200, func(i *Item) { i.Clip, i.Timeline = ref, ref }), 200, 3},
		"long ids":   {items(3, func(i *Item) { i.ID = strings.Repeat("x", 60<<10) }), 200, 3},
	} {
		chunks := Divide(row.items, row.size)
		if len(chunks) != row.chunks {
			t.Errorf("%s: %d chunks, want %d", name, len(chunks), row.chunks)
		}
		var all []Item
		for _, chunk := range chunks {
			all = append(all, chunk.Items...)
			if text, err := json.Marshal(chunk); err != nil || len(chunk.Items) > 1 && len(text) > 49<<10 {
				t.Errorf("%s: a chunk of %d bytes, %v", name, len(text), err)
			}
			if n := len(chunk.Items); n == 0 || n > row.size {
				t.Errorf("%s: a chunk of %d items", name, n)
			}
		}
		if len(all) != len(row.items) {
			t.Errorf("%s: %d items, want %d", name, len(all), len(row.items))
			continue
		}
		for i := range all {
			if all[i] != row.items[i] {
				t.Errorf("%s: item %d is %+v", name, i, all[i])
			}
		}
	}
}
