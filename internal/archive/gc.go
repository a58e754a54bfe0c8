package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// MinGarbageAge is the least age at which anything may go: what is younger may be
// about to be referred to.
const MinGarbageAge = objectstore.MaxClaim

// content prefixes, which the stages of dialogues fill: what is missing below them is
// made again.
var content = []string{"turns/", "clips/", "transcripts/", "quality/", "prepared/", "passes/"}

// collected prefixes are those below which something may be garbage.
func collected() []string {
	return append(slices.Clone(content), "chunks/", "datasets/", "models/", "diagnosis/", objectstore.ClaimPrefix)
}

// Collector finds and deletes what no evaluation refers to.
type Collector struct {
	Archive   Archive
	Now       func() time.Time
	OlderThan time.Duration // since the last write; at least MinGarbageAge
}

// Garbage is what no evaluation referred to when it was looked for.
type Garbage struct {
	Objects []objectstore.Entry
	Uploads []objectstore.Upload // broken off
	Kept    []string             // why more isn't told apart, for a person

	evaluations map[string]bool // that were looked at
}

// Find looks through the whole store and deletes nothing. It fails where something of
// an evaluation can't be read: what that refers to is not known.
func (c Collector) Find(ctx context.Context) (Garbage, error) {
	if c.OlderThan < MinGarbageAge {
		return Garbage{}, fault.Permanentf("look for garbage", "bad_age", "an age of %s is below %s: what is younger may be about to be used", c.OlderThan, MinGarbageAge)
	}
	marked, err := c.Archive.mark(ctx)
	if err != nil {
		return Garbage{}, fmt.Errorf("find out what evaluations refer to: %w", err)
	}
	g := Garbage{Kept: marked.kept, evaluations: marked.evaluations}
	for _, prefix := range collected() {
		if len(marked.kept) > 0 && slices.Contains(content, prefix) {
			continue
		}
		for entry, err := range c.Archive.Store.List(ctx, prefix) {
			if err != nil {
				return g, err
			}
			if marked.keys[entry.Key] || !c.old(entry.Modified) {
				continue
			}
			live, err := c.Archive.aboutLive(ctx, entry.Key, marked)
			if err != nil {
				return g, err
			}
			if !live {
				g.Objects = append(g.Objects, entry)
			}
		}
	}
	uploads, ok := c.Archive.Store.(objectstore.Uploads)
	if !ok {
		return g, nil
	}
	for upload, err := range uploads.Uploads(ctx) {
		if err != nil {
			return g, err
		}
		if c.old(upload.Began) {
			g.Uploads = append(g.Uploads, upload)
		}
	}
	return g, nil
}

func (c Collector) old(written time.Time) bool { return c.Now().Sub(written) > c.OlderThan }

// recheckEvery bounds how many objects go between two looks for new evaluations.
const recheckEvery = 500

// Delete deletes garbage, but what was written again since it was found: whoever puts
// something that a manifest will refer to writes it anew. It returns what it deleted,
// and stops where an evaluation has begun meanwhile.
func (c Collector) Delete(ctx context.Context, g Garbage) (Garbage, error) {
	var gone Garbage
	for i, entry := range g.Objects {
		if i%recheckEvery == 0 {
			if err := c.unchanged(ctx, g); err != nil {
				return gone, err
			}
		}
		now, err := one(c.Archive.Store.List(ctx, entry.Key), entry.Key)
		if err != nil {
			return gone, err
		}
		if now.Key == "" || !c.old(now.Modified) {
			continue
		}
		if err := c.Archive.Store.Delete(ctx, entry.Key); err != nil {
			return gone, err
		}
		gone.Objects = append(gone.Objects, now)
	}
	uploads, ok := c.Archive.Store.(objectstore.Uploads)
	for _, upload := range g.Uploads {
		if !ok {
			break
		}
		if err := uploads.AbortUpload(ctx, upload); err != nil {
			return gone, err
		}
		gone.Uploads = append(gone.Uploads, upload)
	}
	return gone, nil
}

// unchanged fails where an evaluation has begun since the garbage was looked for.
func (c Collector) unchanged(ctx context.Context, g Garbage) error {
	ids, err := c.Archive.List(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !g.evaluations[id] {
			return fmt.Errorf("evaluation %q has begun meanwhile: look for garbage again", id)
		}
	}
	return nil
}

// one returns the entry of exactly that key, the zero entry where there is none.
func one(entries iter.Seq2[objectstore.Entry, error], key string) (objectstore.Entry, error) {
	for entry, err := range entries {
		if err != nil || entry.Key == key {
			return entry, err
		}
	}
	return objectstore.Entry{}, nil
}

// aboutLive reports whether an unmarked object is an answer about something that an
// evaluation refers to, be it another detector's or one in other words.
func (a Archive) aboutLive(ctx context.Context, key string, m marks) (bool, error) {
	if !strings.HasPrefix(key, "passes/") {
		return false, nil
	}
	data, err := objectstore.Bytes(ctx, a.Store, objectstore.Ref{Key: key})
	switch {
	case errors.Is(err, objectstore.ErrNotFound), errors.Is(err, objectstore.ErrCorrupt):
		return true, nil // it can't be told what it is about
	case err != nil:
		return false, err
	}
	var answer struct {
		Question evaluation.Question `json:"question"`
	}
	if err := json.Unmarshal(data, &answer); err != nil || answer.Question.Input == "" {
		return true, nil
	}
	q := answer.Question
	return m.inputs[q.Input] && (q.Fresh == "" || m.evaluations[q.Fresh]), nil
}
