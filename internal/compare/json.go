package compare

import (
	"encoding/json"
	"io"
)

// WriteJSON writes all of a comparison, indented.
func WriteJSON(w io.Writer, c Comparison) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(c)
}
