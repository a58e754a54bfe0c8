package activities

import (
	"context"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recent"
)

// Library is the stored data that activities start from. Manifests and engines
// never change once written, so the last few are kept in memory.
type Library struct {
	Archive  archive.Archive
	Observer Observer // nil for nobody

	cache     recent.Cache[any] // by object hash
	dialogues recent.Cache[dialogue.Dialogue]
}

const (
	// maxCached bounds the memory of a worker that serves many evaluations.
	maxCached = 32
	// maxDialogues is how much of the dialogues that were opened last is kept, in bytes
	// of their lines: one is opened a dozen times within seconds.
	maxDialogues = 1 << 20
)

// Manifest returns the manifest under ref.
func (l *Library) Manifest(ctx context.Context, ref objectstore.Ref) (evaluation.Manifest, error) {
	return cached[evaluation.Manifest](ctx, l, ref)
}

// Engines returns the engines under ref.
func (l *Library) Engines(ctx context.Context, ref objectstore.Ref) (evaluation.Engines, error) {
	return cached[evaluation.Engines](ctx, l, ref)
}

// Open returns what every activity on a dialogue needs.
func (l *Library) Open(ctx context.Context, task evaluation.Task) (Job, error) {
	manifest, err := l.Manifest(ctx, task.Manifest)
	if err != nil {
		return Job{}, err
	}
	engines, err := l.Engines(ctx, task.Engines)
	if err != nil {
		return Job{}, err
	}
	d, ok := l.dialogues.Get(task.Item.Line.SHA256)
	if !ok {
		if d, err = l.Archive.Dialogue(ctx, manifest.Spec.Dataset.Lines, task.Item); err != nil {
			return Job{}, err
		}
		l.dialogues.Put(task.Item.Line.SHA256, d, int(task.Item.Line.Length), maxDialogues)
	}
	return Job{Task: task, Spec: manifest.Spec, Engines: engines, Dialogue: d}, nil
}

func cached[T any](ctx context.Context, l *Library, ref objectstore.Ref) (T, error) {
	if kept, ok := l.cache.Get(ref.SHA256); ok {
		if value, ok := kept.(T); ok {
			return value, nil
		}
	}
	value, err := objectstore.GetJSON[T](ctx, l.Archive.Store, ref)
	if err == nil {
		l.cache.Put(ref.SHA256, value, 1, maxCached)
	}
	return value, err
}

// Job is one dialogue with everything that decides how it is evaluated.
type Job struct {
	Task     evaluation.Task
	Spec     evaluation.Spec
	Engines  evaluation.Engines
	Dialogue dialogue.Dialogue
}
