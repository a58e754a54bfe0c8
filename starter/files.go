package main

import (
	"fmt"
	"io"
	"os"
)

const (
	maxSettings = 1 << 20  // bytes of a file that a person writes: prices, voices
	maxModel    = 64 << 20 // bytes of a detector's model: as much as is read of an object
)

// readFile reads a file of at most so many bytes.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than the %d bytes that are read of such a file", path, limit)
	}
	return data, nil
}
