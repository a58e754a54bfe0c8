package objectstore

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/fault"
)

// CodeUnwritable is the code of a Transient fault: the server couldn't write, and didn't
// say why. Some say no more than that of a disk that is read-only or broken, so that who
// meets it again and again pauses.
const CodeUnwritable = "store_unwritable"

// NotFound, Exists, Corrupt and OutOfRange build the errors that every adapter
// returns for the same cause, so that callers and people see one text whatever
// the store. Each wraps its sentinel.

// NotFound returns a Permanent fault that wraps ErrNotFound.
func NotFound(key string) error {
	return permanent(key, "object_not_found", "", ErrNotFound)
}

// Exists returns a Permanent fault that wraps ErrExists.
func Exists(key string) error {
	return permanent(key, "object_exists", "", ErrExists)
}

// Corrupt returns a Permanent fault that wraps ErrCorrupt and names both hashes.
func Corrupt(key, want, got string) error {
	return permanent(key, "object_corrupt", "restore it from a backup",
		fmt.Errorf("%w: want sha256 %s, got %s", ErrCorrupt, want, got))
}

// OutOfRange returns a Permanent fault that wraps ErrRange.
func OutOfRange(key string, offset, length int64) error {
	return permanent(key, "object_range", "", fmt.Errorf("%w: %d bytes from %d", ErrRange, length, offset))
}

func permanent(key, code, hint string, cause error) error {
	return &fault.Error{
		Kind: fault.Permanent,
		Op:   fmt.Sprintf("object %q", key),
		Code: code,
		Hint: hint,
		Err:  cause,
	}
}
