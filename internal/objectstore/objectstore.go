// Package objectstore is the port to object storage: immutable, hash-verified
// objects under keys, conditional puts, and claims that single-flight work.
//
// Two rules keep keys portable between servers. CheckKey says which keys are
// allowed. And a key must not have other keys below it ("a" and "a/b"): servers
// that keep objects as files can't hold both.
package objectstore

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Ref points to one object and says what must be in it.
type Ref struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"` // hex, of the whole object
	Size   int64  `json:"size"`   // bytes
}

// IsZero reports whether the ref points nowhere.
func (r Ref) IsZero() bool { return r.Key == "" }

// Errors that callers test with errors.Is. Adapters return them inside a
// Permanent fault that names the key.
var (
	ErrNotFound = errors.New("object not found")
	ErrExists   = errors.New("object exists with other content")
	ErrCorrupt  = errors.New("object does not match its hash")
	ErrRange    = errors.New("range is outside the object")
)

// PutOptions say how an object is written.
type PutOptions struct {
	ContentType string
	IfAbsent    bool // ErrExists when the key holds other bytes; the same bytes are success
}

// Store keeps objects. A write is visible to every later read and list.
// Implementations are safe for concurrent use.
type Store interface {
	// Put writes the whole body from its current position and returns its ref.
	// The body is read at least twice: once for the hash, once for the upload.
	Put(ctx context.Context, key string, body io.ReadSeeker, opts PutOptions) (Ref, error)
	// Open reads an object; the reader fails with ErrCorrupt at its end when
	// the bytes don't match the ref. For a ref without SHA256 the hash that was
	// stored with the object is taken; an object of another tool has none and
	// is not checked.
	Open(ctx context.Context, ref Ref) (io.ReadCloser, error)
	// OpenRange reads length bytes from offset, fewer when the object ends
	// before; ErrRange when nothing of it is inside the object. Nothing is
	// checked against the hash.
	OpenRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Stat returns the ref of a key, ErrNotFound when nothing is there. SHA256
	// is empty for an object that another tool wrote.
	Stat(ctx context.Context, key string) (Ref, error)
	// List yields the entries whose key starts with prefix, in key order.
	List(ctx context.Context, prefix string) iter.Seq2[Entry, error]
	// Delete removes a key; a missing key is success.
	Delete(ctx context.Context, key string) error
	// Presign returns a link that reads the object without credentials, for at
	// most MaxPresign; errors.ErrUnsupported where the store has no links. The
	// object need not exist.
	Presign(ctx context.Context, key string, lifetime time.Duration) (string, error)
}

// MaxPresign is the longest lifetime of a presigned link that S3 allows.
const MaxPresign = 7 * 24 * time.Hour

// Entry is one listed object. Its hash takes a Stat.
type Entry struct {
	Key      string
	Size     int64
	Modified time.Time
}
