package codec

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/internal/secret"
)

// The variables that hold the keys: the one or the other.
const (
	EnvKeys    = "SPEECHMANIP_CODEC_KEYS"
	EnvKeyFile = "SPEECHMANIP_CODEC_KEY_FILE"
)

const (
	keySize = 32 // bytes
	// maxKeys is more than any rotation needs.
	maxKeys = 16
)

// Key is a key of AES-256.
type Key struct {
	ID     string      // is derived from the key and tells nothing of it
	Secret secret.Text // 32 bytes
}

// Keys are the keys of payloads: the first encrypts, all decrypt.
type Keys []Key

// Parse reads keys as 32 bytes in base64, with commas or line ends between them.
// Blank lines and lines that begin with # are skipped. No error shows any of the text.
func Parse(text string) (Keys, error) {
	var keys Keys
	for _, entry := range entries(text) {
		n := len(keys) + 1
		if n > maxKeys {
			return nil, fmt.Errorf("more than %d keys: remove those that nothing stored needs", maxKeys)
		}
		key, err := parseKey(entry)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", n, err)
		}
		for i, other := range keys {
			if other.ID == key.ID {
				return nil, fmt.Errorf("key %d is key %d again", n, i+1)
			}
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return keys, nil
}

func entries(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, strings.Split(line, ",")...)
		}
	}
	return out
}

// parseKey reads one key. Its errors leave out what base64 says, as that may show a
// character.
func parseKey(entry string) (Key, error) {
	const how = "use 32 random bytes in base64, as `openssl rand -base64 32` prints them"
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(entry))
	if err != nil {
		return Key{}, errors.New("it is not base64: " + how)
	}
	if len(raw) != keySize {
		return Key{}, fmt.Errorf("it has %d bytes, not %d: %s", len(raw), keySize, how)
	}
	if bytes.Count(raw, raw[:1]) == keySize {
		return Key{}, errors.New("all its bytes are the same: " + how)
	}
	return Key{ID: fingerprint(raw), Secret: secret.Text(raw)}, nil
}

// fingerprint names a key: nobody can give two keys the same name by mistake.
func fingerprint(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("speechmanip payload key id")) // never fails
	return hex.EncodeToString(mac.Sum(nil)[:8])
}
