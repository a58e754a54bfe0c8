package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// Try writes, reads and deletes a small object under key, which nothing else may
// use: whoever may do that may do all that an evaluation needs.
func Try(ctx context.Context, store Store, key string) error {
	text := []byte(key)
	ref, err := PutBytes(ctx, store, key, text, PutOptions{ContentType: "text/plain"})
	if err != nil {
		return err
	}
	read, err := Bytes(ctx, store, ref)
	if err == nil && !bytes.Equal(read, text) {
		err = fmt.Errorf("object %q: what was read is not what was written", key)
	}
	return errors.Join(err, store.Delete(ctx, key))
}
