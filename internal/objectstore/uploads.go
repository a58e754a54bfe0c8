package objectstore

import (
	"context"
	"iter"
	"time"
)

// Upload is a multipart upload that was begun and not completed. Put makes none; other
// tools that were broken off leave them.
type Upload struct {
	Key   string
	ID    string
	Began time.Time
}

// Uploads is a store that may hold such uploads.
type Uploads interface {
	// Uploads yields all of them; none where the server can't list them.
	Uploads(ctx context.Context) iter.Seq2[Upload, error]
	// AbortUpload removes one with its parts; one that is gone is success.
	AbortUpload(ctx context.Context, upload Upload) error
}
