package main

import (
	"strconv"
	"strings"
)

// printable keeps text from outside from steering a terminal: whatever is not
// printable is escaped, line breaks and tabs apart where keep names them.
func printable(text string, keep ...rune) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) || strings.ContainsRune(string(keep), r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}
