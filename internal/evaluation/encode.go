package evaluation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// maxEncodedID keeps an encoded id below the 255 bytes that a path segment may
// have on a file system, with room for prefixes and extensions.
const maxEncodedID = 180

// EncodeID makes an id from outside safe as one segment of a key or workflow
// id: letters, digits, '-', '_' and '.' stay, every other byte becomes =XX, and
// so does a leading '.'. Distinct ids stay distinct. A longer result is cut and
// ends in the id's hash.
func EncodeID(id string) string {
	b := make([]byte, 0, len(id))
	for i := 0; i < len(id); i++ {
		c := id[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b = append(b, c)
		default:
			b = fmt.Appendf(b, "=%02X", c)
		}
	}
	encoded := string(b)
	if encoded == "" {
		return "="
	}
	if len(encoded) > maxEncodedID {
		sum := sha256.Sum256([]byte(id))
		// "==" can't come from the loop, so a cut id is never another's.
		return encoded[:100] + "==" + hex.EncodeToString(sum[:])
	}
	return encoded
}
