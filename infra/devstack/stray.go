package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// strayName is the name under which the S3 server links a finished upload
// before it renames it over the object. Killed in between, it leaves the file
// and then lists it as an object.
var strayName = regexp.MustCompile(`^\..+\.sgwtmp\.[0-9]+$`)

// The S3 server's own folders: upload scratch files in each bucket (finished
// parts of multipart uploads in a folder below), and lock files at the root.
const (
	s3TmpDir       = ".sgwtmp"
	s3MultipartDir = "multipart"
	s3LockDir      = ".vgwlocks"
)

// sweepStrays removes under root what a killed S3 server left half-done, and
// returns how many files that were. It must run while no S3 server does.
func sweepStrays(root string) (int, error) {
	swept := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		scratch := filepath.Base(filepath.Dir(path)) == s3TmpDir
		switch {
		case e.IsDir() && (e.Name() == s3LockDir || scratch && e.Name() == s3MultipartDir):
			return fs.SkipDir
		case e.Type().IsRegular() && (scratch || strayName.MatchString(e.Name())):
			swept++
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		return swept, fmt.Errorf("sweep unfinished uploads: %w", err)
	}
	return swept, nil
}
