package elevenlabs

import "fmt"

// redacted stands for a key wherever one would be printed.
const redacted = "[redacted]"

// Secret is a key that never prints: not by any verb of fmt, not as JSON.
type Secret string

// Format writes a placeholder, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) {
	if s != "" {
		_, _ = fmt.Fprint(f, redacted) // fmt.State doesn't fail
	}
}

// MarshalText returns a placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(s)), nil }
