// Package archive keeps evaluations in the object store: what was asked, what
// was found, and the reports. It works without Temporal and without workers.
package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// ErrUsed says that an evaluation with that id exists.
var ErrUsed = errors.New("evaluation id is used")

// Archive reads and writes evaluations in one store.
type Archive struct {
	Store objectstore.Store
}

// PutDataset stores dialogues as JSON lines and returns where each of them lies.
func (a Archive) PutDataset(ctx context.Context, dialogues []dialogue.Dialogue) (objectstore.Ref, []evaluation.Slice, error) {
	var lines bytes.Buffer
	slices := make([]evaluation.Slice, 0, len(dialogues))
	for _, d := range dialogues {
		line, err := dialogue.Marshal(d)
		if err != nil {
			return objectstore.Ref{}, nil, fmt.Errorf("store dataset: dialogue %q: %w", d.ID, err)
		}
		slices = append(slices, evaluation.Slice{Offset: int64(lines.Len()), Length: int64(len(line)), SHA256: hash(line)})
		lines.Write(line)
		lines.WriteByte('\n')
	}
	ref, err := a.put(ctx, evaluation.DatasetKey(hash(lines.Bytes())), lines.Bytes(), "application/x-ndjson")
	return ref, slices, err
}

// Dialogue reads one dialogue of a stored dataset and checks it against its
// hash.
func (a Archive) Dialogue(ctx context.Context, lines objectstore.Ref, item evaluation.Item) (dialogue.Dialogue, error) {
	body, err := a.Store.OpenRange(ctx, lines.Key, item.Line.Offset, item.Line.Length)
	if err != nil {
		return dialogue.Dialogue{}, fmt.Errorf("read dialogue %q: %w", item.ID, err)
	}
	defer body.Close()
	line, err := io.ReadAll(io.LimitReader(body, item.Line.Length)) // a server may send more
	if err != nil {
		return dialogue.Dialogue{}, fmt.Errorf("read dialogue %q: %w", item.ID, err)
	}
	if hash(line) != item.Line.SHA256 {
		return dialogue.Dialogue{}, fmt.Errorf("read dialogue %q: %w", item.ID, objectstore.Corrupt(lines.Key, item.Line.SHA256, hash(line)))
	}
	return dialogue.ParseLine(line)
}

// PutModel stores a detector's file under its hash.
func (a Archive) PutModel(ctx context.Context, model []byte) (objectstore.Ref, error) {
	return a.put(ctx, evaluation.ModelKey(hash(model)), model, "application/json")
}

// Create stores the chunks and then, as the last and deciding step, the
// manifest. It returns ErrUsed when the id has a manifest already. The chunks'
// refs are filled in.
func (a Archive) Create(ctx context.Context, m evaluation.Manifest, chunks []evaluation.Chunk) (evaluation.Manifest, objectstore.Ref, error) {
	for _, chunk := range chunks {
		data, err := json.Marshal(chunk)
		if err != nil {
			return m, objectstore.Ref{}, err
		}
		ref, err := a.put(ctx, evaluation.ChunkKey(hash(data)), data, "application/json")
		if err != nil {
			return m, objectstore.Ref{}, fmt.Errorf("store chunk: %w", err)
		}
		m.Chunks = append(m.Chunks, ref)
		m.Items += len(chunk.Items)
		if !m.Spec.Budget.IsZero() {
			m.Estimates = append(m.Estimates, chunk.Estimate())
		}
	}
	ref, err := objectstore.PutJSON(ctx, a.Store, evaluation.ManifestKey(m.Spec.ID), m, objectstore.PutOptions{IfAbsent: true})
	if errors.Is(err, objectstore.ErrExists) {
		return m, objectstore.Ref{}, fmt.Errorf("%q: %w", m.Spec.ID, ErrUsed)
	}
	return m, ref, err
}

// Manifest reads an evaluation's manifest and returns its ref too.
func (a Archive) Manifest(ctx context.Context, id string) (evaluation.Manifest, objectstore.Ref, error) {
	ref, err := a.Store.Stat(ctx, evaluation.ManifestKey(id))
	if err != nil {
		return evaluation.Manifest{}, ref, err
	}
	m, err := objectstore.GetJSON[evaluation.Manifest](ctx, a.Store, ref)
	return m, ref, err
}

// Engines reads who spoke, listened and judged; the zero value when the
// evaluation has not come that far.
func (a Archive) Engines(ctx context.Context, id string) (evaluation.Engines, detect.Seen, error) {
	var seen detect.Seen
	engines, err := objectstore.GetJSON[evaluation.Engines](ctx, a.Store, objectstore.Ref{Key: evaluation.EnginesKey(id)})
	if errors.Is(err, objectstore.ErrNotFound) {
		return engines, seen, nil
	}
	if err == nil && !engines.Seen.IsZero() {
		seen, err = objectstore.GetJSON[detect.Seen](ctx, a.Store, engines.Seen)
	}
	return engines, seen, err
}

// List yields the ids of all evaluations in order.
func (a Archive) List(ctx context.Context) ([]string, error) {
	var ids []string
	for entry, err := range a.Store.List(ctx, evaluation.EvaluationsPrefix) {
		if err != nil {
			return nil, err
		}
		id, file, _ := strings.Cut(strings.TrimPrefix(entry.Key, evaluation.EvaluationsPrefix), "/")
		if file == "manifest.json" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// put writes what lies under its own hash, though it may be there: so it is new to the
// Collector before a manifest refers to it, and whole where it was damaged.
func (a Archive) put(ctx context.Context, key string, data []byte, contentType string) (objectstore.Ref, error) {
	return objectstore.PutBytes(ctx, a.Store, key, data, objectstore.PutOptions{ContentType: contentType})
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
