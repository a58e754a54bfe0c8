package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/export"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/s3"
)

// ownExports is where exports may lie in the bucket that holds the evaluations.
const ownExports = "exports/"

// bucketSink writes an export below a prefix, which ends in a slash.
type bucketSink struct {
	store  objectstore.Store
	prefix string
}

// openBucketSink opens BUCKET/PREFIX on the configured server.
func openBucketSink(ctx context.Context, cfg config.Config, place string) (export.Sink, error) {
	bucket, prefix, _ := strings.Cut(place, "/")
	prefix = strings.Trim(prefix, "/") + "/"
	if bucket == "" || prefix == "/" {
		return nil, usagef("--out s3://%s: want s3://BUCKET/PREFIX", place)
	}
	if bucket == cfg.Store.Bucket && !strings.HasPrefix(prefix, ownExports) {
		return nil, usagef("--out s3://%s: that bucket holds the evaluations: use s3://%s/%sNAME or another bucket", place, bucket, ownExports)
	}
	if err := objectstore.CheckKey(prefix + export.SettingsFile); err != nil {
		return nil, usageError{fmt.Errorf("--out: %w", err)}
	}
	target := cfg.Store
	target.Bucket = bucket
	store, err := s3.New(ctx, target)
	if err != nil {
		return nil, err
	}
	if err := store.Check(ctx); err != nil {
		return nil, err
	}
	return newBucketSink(ctx, store, prefix)
}

// newBucketSink takes a prefix below which nothing is, or an export.
func newBucketSink(ctx context.Context, store objectstore.Store, prefix string) (export.Sink, error) {
	sink := bucketSink{store: store, prefix: prefix}
	for _, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		_, there, err := sink.Stat(ctx, export.SettingsFile)
		if err == nil && !there {
			err = fmt.Errorf("--out: %s holds other things and no export: use another prefix", prefix)
		}
		return sink, err
	}
	return sink, nil
}

// Stat returns the hash that is stored with the object, or reads it where another tool
// wrote it.
func (s bucketSink) Stat(ctx context.Context, name string) (string, bool, error) {
	ref, err := s.store.Stat(ctx, s.prefix+name)
	if errors.Is(err, objectstore.ErrNotFound) {
		return "", false, nil
	}
	if err != nil || ref.SHA256 != "" {
		return ref.SHA256, err == nil, err
	}
	body, err := s.store.Open(ctx, ref)
	if err != nil {
		return "", false, err
	}
	defer body.Close()
	hash, err := hashOf(body)
	return hash, err == nil, err
}

// Create begins an object in a file without a name: what is put must be known whole.
func (s bucketSink) Create(_ context.Context, name string) (export.File, error) {
	spool, err := os.CreateTemp("", "speechmanip-export-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(spool.Name()); err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	return &bucketFile{File: spool, sink: s, key: s.prefix + name}, nil
}

type bucketFile struct {
	*os.File
	sink bucketSink
	key  string
}

// Commit puts the object.
func (f *bucketFile) Commit(ctx context.Context) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := f.sink.store.Put(ctx, f.key, f.File, objectstore.PutOptions{}); err != nil {
		return err
	}
	return f.Close()
}

// Abort forgets what was written.
func (f *bucketFile) Abort() { _ = f.Close() } // closed already after Commit
