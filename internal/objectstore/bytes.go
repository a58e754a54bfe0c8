package objectstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/speechmanip/speechmanip/internal/fault"
)

// MaxBytes is the largest object that Bytes and GetJSON read into memory:
// 64 MiB, over 20 minutes of 24 kHz speech. Larger objects are streamed with Open.
const MaxBytes = 64 << 20

// ContentJSON is the content type of what PutJSON writes.
const ContentJSON = "application/json"

// Bytes returns the whole object, checked against its hash as Open does. Above
// MaxBytes it is a Permanent fault.
func Bytes(ctx context.Context, store Store, ref Ref) ([]byte, error) {
	body, err := store.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read object %q: %w", ref.Key, err)
	}
	if len(data) > MaxBytes {
		return nil, fault.Permanentf(fmt.Sprintf("read object %q", ref.Key), "object_too_large",
			"above %d bytes", MaxBytes)
	}
	return data, nil
}

// PutBytes writes data under key.
func PutBytes(ctx context.Context, store Store, key string, data []byte, opts PutOptions) (Ref, error) {
	return store.Put(ctx, key, bytes.NewReader(data), opts)
}

// PutJSON writes value under key as one line of JSON. The same value always
// gives the same bytes: fields in their declared order, map keys sorted, no
// HTML escapes. opts.ContentType is set to ContentJSON.
func PutJSON(ctx context.Context, store Store, key string, value any, opts PutOptions) (Ref, error) {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return Ref{}, fault.Permanentf(fmt.Sprintf("write object %q", key), "bad_json", "%w", err)
	}
	opts.ContentType = ContentJSON
	return PutBytes(ctx, store, key, data.Bytes(), opts)
}

// GetJSON reads what PutJSON wrote. Fields that T lacks are ignored, so that an
// older program reads what a newer one wrote; JSON that isn't a T is a
// Permanent fault.
func GetJSON[T any](ctx context.Context, store Store, ref Ref) (T, error) {
	var value T
	data, err := Bytes(ctx, store, ref)
	if err != nil {
		return value, err
	}
	if err := json.Unmarshal(data, &value); err != nil {
		return value, fault.Permanentf(fmt.Sprintf("read object %q", ref.Key), "bad_json", "%w", err)
	}
	return value, nil
}
