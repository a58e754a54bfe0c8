package objectstore

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/fault"
)

// The longest key S3 takes and the longest segment a file system takes, in bytes.
const (
	maxKey     = 1024
	maxSegment = 255
)

// CheckKey returns a Permanent fault when key can't be kept by every store, or
// could leave its prefix: an empty segment (so also a slash at either end), "."
// or "..", control characters, text that is not UTF-8 or not allowed in S3's
// XML, a segment above 255 bytes or a key above 1,024. Spaces, quotes, %, + and
// any other Unicode text are fine.
func CheckKey(key string) error {
	if cause := keyProblem(key); cause != "" {
		return fault.Permanentf(fmt.Sprintf("object key %.60q", key), "bad_key", "%s", cause)
	}
	return nil
}

func keyProblem(key string) string {
	switch {
	case key == "":
		return "is empty"
	case len(key) > maxKey:
		return fmt.Sprintf("has %d bytes, at most %d are allowed", len(key), maxKey)
	case !utf8.ValidString(key):
		return "is not UTF-8"
	case strings.ContainsFunc(key, unlistable):
		return "has a control character"
	}
	for segment := range strings.SplitSeq(key, "/") {
		switch {
		case segment == "":
			return "has an empty segment"
		case segment == "." || segment == "..":
			return fmt.Sprintf("has the segment %q", segment)
		case len(segment) > maxSegment:
			return fmt.Sprintf("has a segment of %d bytes, at most %d are allowed", len(segment), maxSegment)
		}
	}
	return ""
}

// unlistable reports the characters that XML 1.0, and so an S3 listing, can't
// carry, and the other control characters with them.
func unlistable(r rune) bool {
	return unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF
}

// CheckRange returns a Permanent fault unless offset is at least 0, length at
// least 1 and their sum an int64.
func CheckRange(key string, offset, length int64) error {
	if offset < 0 || length < 1 || length > math.MaxInt64-offset {
		return fault.Permanentf(fmt.Sprintf("object %q", key), "bad_range",
			"can't read %d bytes from %d", length, offset)
	}
	return nil
}

// CheckPresign returns a Permanent fault unless lifetime is above 0 and at most
// MaxPresign.
func CheckPresign(key string, lifetime time.Duration) error {
	if lifetime <= 0 || lifetime > MaxPresign {
		return fault.Permanentf(fmt.Sprintf("link to object %q", key), "bad_lifetime",
			"lifetime %s is not between 1s and %s", lifetime, MaxPresign)
	}
	return nil
}
