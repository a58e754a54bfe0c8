package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

// PutRecord stores what was found out about one item. The first record of an
// item counts: a repeated attempt leaves it alone.
func (a Archive) PutRecord(ctx context.Context, chunk int, r evaluation.Record) (objectstore.Ref, error) {
	key := evaluation.RecordKey(r.Evaluation, chunk, r.ID, r.CastingNumber)
	ref, err := objectstore.PutJSON(ctx, a.Store, key, r, objectstore.PutOptions{IfAbsent: true})
	if errors.Is(err, objectstore.ErrExists) {
		return a.Store.Stat(ctx, key)
	}
	return ref, err
}

// PutShard gathers the records of a finished chunk into one object, so that
// reading an evaluation takes one request a chunk.
func (a Archive) PutShard(ctx context.Context, id string, chunk int) (objectstore.Ref, error) {
	records, err := a.chunkRecords(ctx, id, chunk)
	if err != nil {
		return objectstore.Ref{}, err
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, r := range records {
		if err := encoder.Encode(r); err != nil {
			return objectstore.Ref{}, err
		}
	}
	return objectstore.PutBytes(ctx, a.Store, evaluation.ShardKey(id, chunk), lines.Bytes(),
		objectstore.PutOptions{ContentType: "application/x-ndjson"})
}

// Records reads every record that an evaluation has so far: from the shards of
// finished chunks, one by one for the others.
func (a Archive) Records(ctx context.Context, m evaluation.Manifest) ([]evaluation.Record, error) {
	var records []evaluation.Record
	for chunk := range m.Chunks {
		shard, err := a.shard(ctx, m.Spec.ID, chunk)
		if errors.Is(err, objectstore.ErrNotFound) || errors.Is(err, objectstore.ErrCorrupt) { // the records stay beside it
			shard, err = a.chunkRecords(ctx, m.Spec.ID, chunk)
		}
		if err != nil {
			return nil, fmt.Errorf("read records of chunk %d: %w", chunk, err)
		}
		records = append(records, shard...)
	}
	return records, nil
}

func (a Archive) shard(ctx context.Context, id string, chunk int) ([]evaluation.Record, error) {
	data, err := objectstore.Bytes(ctx, a.Store, objectstore.Ref{Key: evaluation.ShardKey(id, chunk)})
	if err != nil {
		return nil, err
	}
	var records []evaluation.Record
	for line := range bytes.Lines(data) {
		var r evaluation.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%q: %w", evaluation.ShardKey(id, chunk), err)
		}
		records = append(records, r)
	}
	return records, nil
}

// recordsAtOnce is how many records are read side by side: one after the other, a
// chunk's take seconds in which nothing else of it goes on.
const recordsAtOnce = 16

func (a Archive) chunkRecords(ctx context.Context, id string, chunk int) ([]evaluation.Record, error) {
	var keys []string
	for entry, err := range a.Store.List(ctx, evaluation.RecordsPrefix(id, chunk)) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, entry.Key)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	records, failed := make([]evaluation.Record, len(keys)), make([]error, len(keys))
	slots := make(chan struct{}, recordsAtOnce)
	var reading sync.WaitGroup
	for i, key := range keys {
		slots <- struct{}{}
		reading.Go(func() {
			defer func() { <-slots }()
			if records[i], failed[i] = objectstore.GetJSON[evaluation.Record](ctx, a.Store, objectstore.Ref{Key: key}); failed[i] != nil {
				cancel() // the rest is of no use
			}
		})
	}
	reading.Wait()
	for _, err := range failed {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	if err := cmp.Or(failed...); err != nil {
		return nil, err
	}
	return records, nil
}

// CountRecords returns how many dialogues have a record so far, without reading
// them.
func (a Archive) CountRecords(ctx context.Context, id string) (int, error) {
	count := 0
	for _, err := range a.Store.List(ctx, evaluation.Prefix(id)+"records/") {
		if err != nil {
			return 0, err
		}
		count++
	}
	return count, nil
}

// PutEnded stores when an evaluation ended; the first time counts. It fails when there
// is no such evaluation.
func (a Archive) PutEnded(ctx context.Context, id string, e evaluation.Ended) error {
	if _, err := a.Store.Stat(ctx, evaluation.ManifestKey(id)); err != nil {
		return err
	}
	_, err := objectstore.PutJSON(ctx, a.Store, evaluation.EndedKey(id), e, objectstore.PutOptions{IfAbsent: true})
	if errors.Is(err, objectstore.ErrExists) {
		return nil
	}
	return err
}

// ended reads when an evaluation ended, the zero value while it goes on.
func (a Archive) ended(ctx context.Context, id string) (evaluation.Ended, error) {
	e, err := objectstore.GetJSON[evaluation.Ended](ctx, a.Store, objectstore.Ref{Key: evaluation.EndedKey(id)})
	if errors.Is(err, objectstore.ErrNotFound) {
		return evaluation.Ended{}, nil
	}
	return e, err
}

// Report builds the report from what is stored now.
func (a Archive) Report(ctx context.Context, id string) (report.Report, error) {
	m, _, err := a.Manifest(ctx, id)
	if err != nil {
		return report.Report{}, err
	}
	engines, seen, err := a.Engines(ctx, id)
	if err != nil {
		return report.Report{}, err
	}
	records, err := a.Records(ctx, m)
	if err != nil {
		return report.Report{}, err
	}
	in := report.Input{Manifest: m, Engines: engines, Seen: seen, Records: records}
	if !engines.Facts.IsZero() {
		if in.Facts, err = objectstore.GetJSON[[]detect.Fact](ctx, a.Store, engines.Facts); err != nil {
			return report.Report{}, fmt.Errorf("read what the detector found out about its server: %w", err)
		}
	}
	if in.Ended, err = a.ended(ctx, id); err != nil {
		return report.Report{}, err
	}
	if in.Shown, in.ShownTexts, err = a.shown(ctx, m, engines); err != nil {
		return report.Report{}, err
	}
	built, err := report.Build(in)
	if err != nil {
		return built, err
	}
	built.Scheduled, err = a.outcome(ctx, id)
	return built, err
}

// shown returns the exemplars and the hashes of their texts. Until they are
// stored with their clips, they are as the manifest has them.
func (a Archive) shown(ctx context.Context, m evaluation.Manifest, engines evaluation.Engines) ([]evaluation.Exemplar, []string, error) {
	exemplars := m.Shown
	if !engines.Exemplars.IsZero() {
		var err error
		if exemplars, err = objectstore.GetJSON[[]evaluation.Exemplar](ctx, a.Store, engines.Exemplars); err != nil {
			return nil, nil, fmt.Errorf("read the exemplars: %w", err)
		}
	}
	var texts []string
	for _, e := range exemplars {
		d, err := a.Dialogue(ctx, m.Spec.Dataset.Lines, e.Item)
		if err != nil {
			return nil, nil, fmt.Errorf("read the exemplars: %w", err)
		}
		texts = append(texts, d.TextHash())
	}
	return exemplars, texts, nil
}

// PutReport stores the report's files and returns the ref of its JSON form.
func (a Archive) PutReport(ctx context.Context, id string, r report.Report) (objectstore.Ref, error) {
	var first objectstore.Ref
	for i, file := range report.Files() {
		var body bytes.Buffer
		if err := file.Write(&body, r); err != nil {
			return first, fmt.Errorf("write %s: %w", file.Name, err)
		}
		ref, err := objectstore.PutBytes(ctx, a.Store, evaluation.ReportKey(id, file.Name), body.Bytes(),
			objectstore.PutOptions{ContentType: file.ContentType})
		if err != nil {
			return first, err
		}
		if i == 0 {
			first = ref
		}
	}
	return first, nil
}
