// Package secret holds text that must not appear in any output: keys, passwords.
package secret

import (
	"fmt"
	"strings"
)

// Redacted stands for a secret wherever one would be printed.
const Redacted = "[redacted]"

// Text is a secret that never prints: not by any verb of fmt, not encoded, not by a
// logger. Convert it to a string to use it, and keep the string in no struct: fmt
// prints unexported fields without asking their methods, those of a Text too. Nor make
// one a map's key: JSON doesn't ask those.
type Text string

// Format writes the placeholder, whatever the verb; an empty secret stays empty, so
// that a set one can be told from an unset one.
func (t Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) } // fmt.State doesn't fail

// String returns the placeholder, "" for an empty secret.
func (t Text) String() string {
	if t == "" {
		return ""
	}
	return Redacted
}

// MarshalText returns the placeholder: for JSON, TOML and loggers.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Redact returns text with the placeholder wherever the secret was.
func (t Text) Redact(text string) string {
	if t == "" {
		return text
	}
	return strings.ReplaceAll(text, string(t), Redacted)
}
