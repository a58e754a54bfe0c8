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

// Dialogues reads the dialogues of items in one go, and checks each as Dialogue does.
func (a Archive) Dialogues(ctx context.Context, lines objectstore.Ref, items []evaluation.Item) ([]dialogue.Dialogue, error) {
	data, err := objectstore.Bytes(ctx, a.Store, lines)
	if err != nil {
		return nil, fmt.Errorf("read dataset: %w", err)
	}
	dialogues := make([]dialogue.Dialogue, len(items))
	for i, item := range items {
		at := item.Line
		if at.Offset < 0 || at.Length < 0 || at.Offset > int64(len(data)) || at.Length > int64(len(data))-at.Offset {
			return nil, fmt.Errorf("read dialogue %q: %w", item.ID, objectstore.ErrRange)
		}
		line := data[at.Offset : at.Offset+at.Length]
		if hash(line) != at.SHA256 {
			return nil, fmt.Errorf("read dialogue %q: %w", item.ID, objectstore.Corrupt(lines.Key, at.SHA256, hash(line)))
		}
		if dialogues[i], err = dialogue.ParseLine(line); err != nil {
			return nil, fmt.Errorf("read dialogue %q: %w", item.ID, err)
		}
	}
	return dialogues, nil
}
