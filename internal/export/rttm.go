package export

import (
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"
)

// writeRTTM writes a SPEAKER line for each turn that is spoken, as NIST's Rich Transcription
// has them. The file's name is the clip's without folder and extension.
func writeRTTM(w io.Writer, it Item) error {
	file := strings.TrimSuffix(path.Base(it.FileName), path.Ext(it.FileName))
	for _, t := range it.spoken() {
		_, err := fmt.Fprintf(w, "SPEAKER %s 1 %s %s <NA> <NA> %s <NA> <NA>\n", file, *t.Start, *t.End-*t.Start, rttmName(t.Speaker))
		if err != nil {
			return err
		}
	}
	return nil
}

// rttmName makes a speaker's label one field: spaces part fields, and ";" begins a
// comment. What stays as it is never holds "=".
func rttmName(speaker string) string {
	var b strings.Builder
	for _, r := range speaker {
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("=;<>", r) {
			fmt.Fprintf(&b, "=%x.", r)
			continue
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "="
	}
	return b.String()
}
