package objectstore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Measure returns the ref that body will have under key. It reads body to its
// end and goes back to where it was.
func Measure(key string, body io.ReadSeeker) (Ref, error) {
	start, err := body.Seek(0, io.SeekCurrent)
	if err != nil {
		return Ref{}, fmt.Errorf("object %q: find the body's position: %w", key, err)
	}
	sum := sha256.New()
	size, err := io.Copy(sum, body)
	if err != nil {
		return Ref{}, fmt.Errorf("object %q: read the body: %w", key, err)
	}
	if _, err := body.Seek(start, io.SeekStart); err != nil {
		return Ref{}, fmt.Errorf("object %q: rewind the body: %w", key, err)
	}
	return Ref{Key: key, SHA256: hex.EncodeToString(sum.Sum(nil)), Size: size}, nil
}

// Verify returns a reader of body whose last Read fails with ErrCorrupt instead
// of io.EOF when the bytes don't have ref's hash. Without a hash body comes back
// as it is.
func Verify(body io.ReadCloser, ref Ref) io.ReadCloser {
	if ref.SHA256 == "" {
		return body
	}
	return &verifier{body: body, ref: ref, sum: sha256.New()}
}

type verifier struct {
	body io.ReadCloser
	ref  Ref
	sum  hash.Hash
	err  error // once set, every further Read returns it
}

func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.body.Read(p)
	v.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if got := hex.EncodeToString(v.sum.Sum(nil)); got != v.ref.SHA256 {
			err = Corrupt(v.ref.Key, v.ref.SHA256, got)
		}
	}
	v.err = err
	return n, err
}

func (v *verifier) Close() error { return v.body.Close() }
