package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// marks are what evaluations refer to.
type marks struct {
	evaluations map[string]bool
	keys        map[string]bool
	inputs      map[string]bool // hashes of the clips and texts that answers are about
	kept        []string        // why nothing of the content can be told apart
}

// named finds the keys that stored JSON names, whatever the field: also of versions
// that this program doesn't know. No key of these has a character that JSON escapes.
var named = regexp.MustCompile(`"((?:turns|clips|transcripts|quality|prepared|passes|chunks|datasets|models)/[A-Za-z0-9._-]+)"`)

func (m marks) name(data []byte) {
	for _, found := range named.FindAllSubmatch(data, -1) {
		m.keys[string(found[1])] = true
	}
}

// mark reads every evaluation, and what was asked of one in other words.
func (a Archive) mark(ctx context.Context) (marks, error) {
	m := marks{evaluations: map[string]bool{}, keys: map[string]bool{}, inputs: map[string]bool{}}
	ids, err := a.List(ctx)
	if err != nil {
		return m, err
	}
	for _, id := range ids {
		m.evaluations[id] = true
		if err := a.markEvaluation(ctx, id, &m); err != nil {
			return m, fmt.Errorf("evaluation %q: %w", id, err)
		}
	}
	for entry, err := range a.Store.List(ctx, "sensitivity/") {
		if err != nil {
			return m, err
		}
		data, err := objectstore.Bytes(ctx, a.Store, objectstore.Ref{Key: entry.Key})
		if err != nil {
			return m, err
		}
		m.name(data)
	}
	return m, nil
}

func (a Archive) markEvaluation(ctx context.Context, id string, m *marks) error {
	manifest, _, err := a.Manifest(ctx, id)
	if err != nil {
		return err
	}
	ended := false
	for entry, err := range a.Store.List(ctx, evaluation.Prefix(id)) {
		if err != nil {
			return err
		}
		file := strings.TrimPrefix(entry.Key, evaluation.Prefix(id))
		ended = ended || file == "report.json"
		if strings.Contains(file, "/") || !strings.HasSuffix(file, ".json") {
			continue // records, which are read below, and reports of people
		}
		data, err := objectstore.Bytes(ctx, a.Store, objectstore.Ref{Key: entry.Key})
		if err != nil {
			return err
		}
		m.name(data)
	}
	records, err := a.Records(ctx, manifest)
	if err != nil {
		return err
	}
	found := map[evaluation.Rendition]evaluation.Record{}
	for _, r := range records {
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		m.name(data)
		found[r.Rendition()] = r
	}
	engines, known, err := a.speaking(ctx, id)
	if err != nil {
		return err
	}
	if !known && !ended {
		m.kept = append(m.kept, fmt.Sprintf("evaluation %s has not begun, so that it isn't known what it will use: all of %s is kept", id, strings.Join(content, ", ")))
	}
	return a.markDialogues(ctx, manifest, engines, found, m)
}

// speaking returns the engines of an evaluation as far as they are known.
func (a Archive) speaking(ctx context.Context, id string) (engines evaluation.Engines, known bool, err error) {
	for _, key := range []string{evaluation.EnginesKey(id), evaluation.SpeakingKey(id)} {
		engines, err = objectstore.GetJSON[evaluation.Engines](ctx, a.Store, objectstore.Ref{Key: key})
		if !errors.Is(err, objectstore.ErrNotFound) {
			return engines, err == nil, err
		}
	}
	return evaluation.Engines{}, false, nil
}

// markDialogues works out what the stages of every dialogue store: also of those that
// have no record yet, and what records don't name.
func (a Archive) markDialogues(ctx context.Context, manifest evaluation.Manifest, engines evaluation.Engines, found map[evaluation.Rendition]evaluation.Record, m *marks) error {
	var items []evaluation.Item
	for _, ref := range manifest.Chunks {
		chunk, err := objectstore.GetJSON[evaluation.Chunk](ctx, a.Store, ref)
		if err != nil {
			return err
		}
		items = append(items, chunk.Items...)
	}
	shown := manifest.Shown
	if !engines.Exemplars.IsZero() {
		var err error
		if shown, err = objectstore.GetJSON[[]evaluation.Exemplar](ctx, a.Store, engines.Exemplars); err != nil {
			return err
		}
	}
	for _, e := range manifest.Shown {
		items = append(items, e.Item)
	}
	dialogues := a.dialogues(ctx, manifest.Spec.Dataset.Lines)
	for _, item := range items {
		m.keys[item.Clip.Key], m.keys[item.Timeline.Key] = true, true
		d, err := dialogues(item)
		if err != nil {
			return err
		}
		if err := a.markDialogue(ctx, manifest.Spec, engines, shown, item, d, found[item.Rendition()].Clip, m); err != nil {
			return err
		}
	}
	return nil
}

// dialogues reads a dataset's dialogues, the whole dataset at once where it fits into
// memory.
func (a Archive) dialogues(ctx context.Context, lines objectstore.Ref) func(evaluation.Item) (dialogue.Dialogue, error) {
	var all []byte
	if lines.Size <= objectstore.MaxBytes {
		all, _ = objectstore.Bytes(ctx, a.Store, lines) // else each line is asked for, and its error told
	}
	return func(item evaluation.Item) (dialogue.Dialogue, error) {
		from, to := item.Line.Offset, item.Line.Offset+item.Line.Length
		if from >= 0 && from <= to && to <= int64(len(all)) && hash(all[from:to]) == item.Line.SHA256 {
			return dialogue.ParseLine(all[from:to])
		}
		return a.Dialogue(ctx, lines, item)
	}
}

func (a Archive) markDialogue(ctx context.Context, spec evaluation.Spec, engines evaluation.Engines, shown []evaluation.Exemplar, item evaluation.Item, d dialogue.Dialogue, clip objectstore.Ref, m *marks) error {
	m.inputs[d.TextHash()] = true
	if clip.IsZero() {
		clip = item.Clip
	}
	if !spec.Dataset.Clips && len(spec.Speech.Pool.Voices) > 0 {
		script, err := evaluation.NewScript(spec.Speech, engines.Speech, d, item.CastingNumber)
		if err != nil {
			return err
		}
		for _, t := range script.Turns {
			m.keys[t.Key] = true
		}
		turns := script.ClipTurns()
		key := evaluation.ClipKey(turns, spec.Compose)
		m.keys[key], m.keys[evaluation.TimelineKey(turns, spec.Compose)] = true, true
		if clip.IsZero() {
			if clip, err = a.Store.Stat(ctx, key); err != nil && !errors.Is(err, objectstore.ErrNotFound) {
				return err
			}
		}
	}
	transcript := ""
	if clip.SHA256 != "" {
		m.inputs[clip.SHA256] = true
		transcript = evaluation.TranscriptKey(engines.Recognizer, clip.SHA256)
		m.keys[transcript] = true
		m.keys[evaluation.QualityKey(transcript, clip.SHA256, d.TextHash())] = true
	}
	for _, modality := range spec.Detection.Modalities() {
		for _, detector := range []detect.Identity{engines.Detector, engines.Swapped} {
			q := evaluation.Question{Detector: detector, Modality: modality, Input: clip.SHA256}
			if modality == detect.Text {
				q.Input = d.TextHash()
			} else if engines.NeedsWords || modality == detect.ASR {
				q.Words = transcript
			}
			if spec.Detection.Passes == evaluation.PassesFresh {
				q.Fresh = spec.ID
			}
			for _, e := range shown {
				if modality == detect.Audio {
					q.Exemplars = append(q.Exemplars, e.Item.Clip.SHA256)
				} else {
					q.Exemplars = append(q.Exemplars, e.Item.Line.SHA256)
				}
			}
			m.keys[evaluation.PreparedKey(q)] = true
		}
	}
	return nil
}
