package s3

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

const (
	// hashMetadata is the user metadata entry (x-amz-meta-sha256) that holds an
	// object's hash: HEAD returns it, whereas ETags are no hash of the content.
	hashMetadata = "sha256"
	// maxPut is what S3 takes in one request. Multipart uploads aren't needed
	// below it, and nothing can be left half uploaded.
	maxPut = 5 << 30
	// maxConditionalPuts bounds the puts of one key that others keep making and
	// deleting.
	maxConditionalPuts = 4
)

// Put writes body as one request; at most 5 GiB. Where it is retried inside,
// the body is rewound and read again.
func (s *Store) Put(ctx context.Context, key string, body io.ReadSeeker, opts objectstore.PutOptions) (objectstore.Ref, error) {
	if err := objectstore.CheckKey(key); err != nil {
		return objectstore.Ref{}, err
	}
	ref, err := objectstore.Measure(key, body)
	if err != nil {
		return objectstore.Ref{}, err
	}
	if ref.Size > maxPut {
		return objectstore.Ref{}, fault.Permanentf(fmt.Sprintf("write object %q", key), "object_too_large",
			"%d bytes are above the %d that one request may carry", ref.Size, int64(maxPut))
	}
	start, err := body.Seek(0, io.SeekCurrent)
	if err != nil {
		return objectstore.Ref{}, fmt.Errorf("write object %q: find the body's position: %w", key, err)
	}
	input := &awss3.PutObjectInput{
		Bucket:        &s.bucket,
		Key:           &key,
		Body:          body,
		ContentLength: &ref.Size,
		Metadata:      map[string]string{hashMetadata: ref.SHA256},
	}
	if opts.ContentType != "" {
		input.ContentType = &opts.ContentType
	}
	if opts.IfAbsent {
		input.IfNoneMatch = aws.String("*")
	}
	for range maxConditionalPuts {
		_, err = s.client.PutObject(ctx, input)
		if err == nil {
			return ref, nil
		}
		if !opts.IfAbsent || statusOf(err) != http.StatusPreconditionFailed {
			return objectstore.Ref{}, s.writeFault(ctx, key, err)
		}
		// Either the key was taken, or this is a retry whose first try got
		// through though its reply did not: the content tells.
		same, err := s.holds(ctx, ref)
		switch {
		case err == nil && same:
			return ref, nil
		case err == nil:
			return objectstore.Ref{}, objectstore.Exists(key)
		case !errors.Is(err, objectstore.ErrNotFound):
			return objectstore.Ref{}, err
		}
		// Deleted in between: the key is free again.
		if _, err := body.Seek(start, io.SeekStart); err != nil {
			return objectstore.Ref{}, fmt.Errorf("write object %q: rewind the body: %w", key, err)
		}
	}
	return objectstore.Ref{}, &fault.Error{
		Kind: fault.Transient,
		Op:   fmt.Sprintf("write object %q", key),
		Code: "object_contended",
		Err:  fmt.Errorf("others made and deleted it %d times", maxConditionalPuts),
	}
}

// writeFault is an objectFault that knows of servers which answer 500 where their disk
// takes no writes.
func (s *Store) writeFault(ctx context.Context, key string, err error) error {
	failed := s.objectFault(ctx, "write", key, err)
	var f *fault.Error
	if errors.As(failed, &f) && f.Code == "server_error" && statusOf(err) == http.StatusInternalServerError {
		f.Code, f.Hint = objectstore.CodeUnwritable, "where it stays so, its disk may be read-only or broken: the server's log tells"
	}
	return failed
}

// holds reports whether the object under ours.Key has the content of ours.
func (s *Store) holds(ctx context.Context, ours objectstore.Ref) (bool, error) {
	theirs, err := s.Stat(ctx, ours.Key)
	if err != nil {
		return false, err
	}
	if theirs.SHA256 == "" && theirs.Size == ours.Size { // another tool wrote it
		if theirs.SHA256, err = s.hash(ctx, theirs); err != nil {
			return false, err
		}
	}
	return theirs == ours, nil
}

// hash reads an object that has no hash in its metadata.
func (s *Store) hash(ctx context.Context, ref objectstore.Ref) (string, error) {
	body, err := s.Open(ctx, ref)
	if err != nil {
		return "", err
	}
	defer body.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return "", fmt.Errorf("read object %q: %w", ref.Key, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
