// Package objectstore is the port to object storage: immutable, hash-verified
// objects under keys, conditional puts, and claims that single-flight work.
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

// Errors that callers test with errors.Is.
var (
	ErrNotFound = errors.New("object not found")
	ErrExists   = errors.New("object exists with other content")
	ErrCorrupt  = errors.New("object does not match its hash")
)

// PutOptions say how an object is written.
type PutOptions struct {
	ContentType string
	IfAbsent    bool // ErrExists when the key holds other bytes; the same bytes are success
}

// Store keeps objects. Implementations are safe for concurrent use.
type Store interface {
	// Put writes the whole body from its current position and returns its ref.
	// The body is read twice: once for the hash, once for the upload.
	Put(ctx context.Context, key string, body io.ReadSeeker, opts PutOptions) (Ref, error)
	// Open reads an object; the reader fails with ErrCorrupt at its end when
	// the bytes don't match the ref. A ref with an empty SHA256 is not checked.
	Open(ctx context.Context, ref Ref) (io.ReadCloser, error)
	// OpenRange reads length bytes from offset.
	OpenRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Stat returns the ref of a key, ErrNotFound when nothing is there.
	Stat(ctx context.Context, key string) (Ref, error)
	// List yields the entries below a prefix in key order.
	List(ctx context.Context, prefix string) iter.Seq2[Entry, error]
	// Delete removes a key; a missing key is success.
	Delete(ctx context.Context, key string) error
	// Presign returns a link that reads the object without credentials.
	Presign(ctx context.Context, key string, lifetime time.Duration) (string, error)
}

// Entry is one listed object. Its hash takes a Stat.
type Entry struct {
	Key      string
	Size     int64
	Modified time.Time
}
