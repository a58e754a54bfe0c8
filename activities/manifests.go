package activities

import (
	"context"
	"sync"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Library is the stored data that activities start from. Manifests and engines
// never change once written, so the last few are kept in memory.
type Library struct {
	Archive  archive.Archive
	Observer Observer // nil for nobody

	mu    sync.Mutex
	cache map[string]any // by object hash
}

// maxCached bounds the memory of a worker that serves many evaluations.
const maxCached = 32

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
	d, err := l.Archive.Dialogue(ctx, manifest.Spec.Dataset.Lines, task.Item)
	if err != nil {
		return Job{}, err
	}
	return Job{Task: task, Spec: manifest.Spec, Engines: engines, Dialogue: d}, nil
}

func cached[T any](ctx context.Context, l *Library, ref objectstore.Ref) (T, error) {
	l.mu.Lock()
	value, ok := l.cache[ref.SHA256].(T)
	l.mu.Unlock()
	if ok {
		return value, nil
	}
	value, err := objectstore.GetJSON[T](ctx, l.Archive.Store, ref)
	if err != nil {
		return value, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cache == nil || len(l.cache) >= maxCached {
		l.cache = map[string]any{}
	}
	l.cache[ref.SHA256] = value
	return value, nil
}

// Job is one dialogue with everything that decides how it is evaluated.
type Job struct {
	Task     evaluation.Task
	Spec     evaluation.Spec
	Engines  evaluation.Engines
	Dialogue dialogue.Dialogue
}
