package annotation

import (
	"bytes"
	"encoding/json"
	"strings"
)

// metadataLine is a row of an export's metadata.jsonl, as far as it is of use here.
type metadataLine struct {
	ID    string `json:"id"`
	File  string `json:"file_name"`
	Truth string `json:"truth"`
	Turns []struct {
		Speaker string `json:"speaker"`
		Text    string `json:"text"`
	} `json:"turns"`
}

// metadata reads the dialogues of an export as items to judge, in both modalities unless
// the source names one.
func (b *builder) metadata(text []byte) {
	at := 0
	for raw := range bytes.Lines(text) {
		at++
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue
		}
		var line metadataLine
		if err := json.Unmarshal(raw, &line); err != nil {
			b.problem(at, "it is no row of an export's metadata: %v", err)
			continue
		}
		var turns []string
		for _, t := range line.Turns {
			turns = append(turns, t.Speaker+": "+t.Text)
		}
		for _, m := range []Modality{Text, Audio} {
			if b.source.Modality != "" && m != b.source.Modality {
				continue
			}
			key, ok := b.item(at, m, line.ID)
			if !ok {
				break
			}
			if b.items[key] {
				b.problem(at, "the item %s is there more than once in %s", quote(key.item), m)
				continue
			}
			b.addItem(key)
			b.truth(at, key.item, line.Truth)
			b.shown(key.item, Shown{Text: strings.Join(turns, "\n"), Audio: line.File})
		}
	}
}
