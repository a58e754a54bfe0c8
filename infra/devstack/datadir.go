package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// dataDir is the folder that holds all state, and the names within it.
type dataDir struct {
	root string
	lock *os.File // held while devstack or its S3 server lives
}

func (d dataDir) database() string    { return filepath.Join(d.root, "temporal.db") }
func (d dataDir) temporalLog() string { return filepath.Join(d.root, "temporal.log") }
func (d dataDir) s3Log() string       { return filepath.Join(d.root, "s3.log") }
func (d dataDir) s3Root() string      { return filepath.Join(d.root, "s3") }
func (d dataDir) iamRoot() string     { return filepath.Join(d.root, "iam") }

// lockGrace is how long a taken lock is tried again: after a kill -9 the S3
// server of the dead devstack holds it for a moment longer.
const lockGrace = 2 * time.Second

// openDataDir makes the folder where it is missing, takes its lock, checks
// that its file system can hold S3 metadata and sweeps what a killed S3
// server left. The caller closes the lock.
func openDataDir(ctx context.Context, root string) (dataDir, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return dataDir{}, fmt.Errorf("data folder %s: %w", root, err)
	}
	d := dataDir{root: abs}
	for _, dir := range []string{d.root, d.s3Root(), d.iamRoot()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return dataDir{}, fmt.Errorf("data folder: %w; choose another with --data", err)
		}
	}
	if d.lock, err = lockFile(ctx, filepath.Join(d.root, "lock")); err != nil {
		return dataDir{}, err
	}
	if err := probeXattr(d.s3Root()); err != nil {
		_ = d.lock.Close()
		return dataDir{}, err
	}
	if _, err := sweepStrays(d.s3Root()); err != nil {
		_ = d.lock.Close()
		return dataDir{}, err
	}
	return d, nil
}

func lockFile(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w; choose another with --data", err)
	}
	deadline := time.Now().Add(lockGrace)
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			_ = f.Close()
			return nil, fmt.Errorf("data folder: lock %s: %w; choose another with --data", path, err)
		}
		if time.Now().After(deadline) {
			_ = f.Close()
			return nil, fmt.Errorf("another devstack is using %s; stop it or choose another folder with --data", filepath.Dir(path))
		}
		if !sleep(ctx, 50*time.Millisecond) {
			_ = f.Close()
			return nil, ctx.Err()
		}
	}
}

// probeXattr checks that files in dir can carry user extended attributes,
// where the S3 server keeps its metadata. (Its other choice, files beside the
// objects, loses objects over kill -9.)
func probeXattr(dir string) error {
	f, err := os.CreateTemp(dir, ".xattr-probe-*")
	if err != nil {
		return fmt.Errorf("data folder: %w; choose another with --data", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := unix.Fsetxattr(int(f.Fd()), "user.devstack", []byte("probe"), 0); err != nil {
		return fmt.Errorf("the file system of %s can't hold extended attributes (user.*: %v), which the S3 server needs; choose a folder on another one with --data",
			dir, err)
	}
	return nil
}
