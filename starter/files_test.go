package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{4: "larger than the 4 bytes", 5: "", 6: ""} {
		text, err := readFile(path, limit)
		if want == "" && (err != nil || string(text) != "12345") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("limit %d: %q, %v", limit, text, err)
		}
	}
	if _, err := readFile("/dev/zero", 8); err == nil {
		t.Error("a file without an end is read")
	}
}
