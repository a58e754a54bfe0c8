package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
)

// maxName keeps a name with its folder and extension below what file systems and
// tar take.
const maxName = 80

// devices are names that Windows keeps for itself, whatever the extension.
var devices = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// FileName makes a dialogue's id, which may hold anything, a file's name without
// extension on every file system: a-z, 0-9, '-' and '_' stay, every other byte
// becomes =xx, and so does a leading '-' and the first letter of a device's name.
// There is no dot in it, so that tools which cut names at the first dot take all of
// it, and no upper case, so that distinct ids stay distinct where case is ignored. A
// longer result is cut and ends in the id's hash.
func FileName(id string) string {
	name := make([]byte, 0, len(id))
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '-' && i > 0:
			name = append(name, c)
		default:
			name = fmt.Appendf(name, "=%02x", c)
		}
	}
	switch {
	case len(name) == 0:
		return "="
	case devices.Match(name):
		return fmt.Sprintf("=%02x%s", name[0], name[1:])
	case len(name) > maxName:
		sum := sha256.Sum256([]byte(id))
		// "==" comes from nothing else, so a cut id is never another's.
		return string(name[:maxName-34]) + "==" + hex.EncodeToString(sum[:16])
	}
	return string(name)
}
