package archive

import (
	"context"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Items reads the items of all chunks of an evaluation, in their order.
func (a Archive) Items(ctx context.Context, m evaluation.Manifest) ([]evaluation.Item, error) {
	var items []evaluation.Item
	for i, ref := range m.Chunks {
		chunk, err := objectstore.GetJSON[evaluation.Chunk](ctx, a.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("read chunk %d: %w", i, err)
		}
		items = append(items, chunk.Items...)
	}
	return items, nil
}

// Dialogues reads the dialogues of items, and checks each as Dialogue does.
func (a Archive) Dialogues(ctx context.Context, lines objectstore.Ref, items []evaluation.Item) ([]dialogue.Dialogue, error) {
	read := a.dialogues(ctx, lines)
	dialogues := make([]dialogue.Dialogue, len(items))
	for i, item := range items {
		var err error
		if dialogues[i], err = read(item); err != nil {
			return nil, err
		}
	}
	return dialogues, nil
}
