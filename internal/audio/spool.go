package audio

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
)

// spool keeps processed turns on disk between the two passes of Compose, so that its
// memory doesn't depend on the number of turns. The file has no name: it is gone when the
// process is, however that ends.
type spool struct {
	file  *os.File
	out   *bufio.Writer
	in    *bufio.Reader
	bytes [4096]byte
}

func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "speechmanip-clip-*")
	if err != nil {
		return nil, fmt.Errorf("create spool: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, fmt.Errorf("create spool: %w", err)
	}
	return &spool{file: file, out: bufio.NewWriterSize(file, 1<<16)}, nil
}

func (s *spool) close() { s.file.Close() }

// write appends samples.
func (s *spool) write(samples []float32) error {
	for len(samples) > 0 {
		n := min(len(samples), len(s.bytes)/4)
		for i, v := range samples[:n] {
			binary.LittleEndian.PutUint32(s.bytes[4*i:], math.Float32bits(v))
		}
		if _, err := s.out.Write(s.bytes[:4*n]); err != nil {
			return fmt.Errorf("write spool (is %s full?): %w", os.TempDir(), err)
		}
		samples = samples[n:]
	}
	return nil
}

// rewind ends writing and starts reading from the first sample.
func (s *spool) rewind() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("write spool (is %s full?): %w", os.TempDir(), err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("rewind spool: %w", err)
	}
	s.in = bufio.NewReaderSize(s.file, 1<<16)
	return nil
}

// read fills samples with the next ones.
func (s *spool) read(samples []float32) error {
	for len(samples) > 0 {
		n := min(len(samples), len(s.bytes)/4)
		if _, err := io.ReadFull(s.in, s.bytes[:4*n]); err != nil {
			return fmt.Errorf("read spool: %w", err)
		}
		for i := range samples[:n] {
			samples[i] = math.Float32frombits(binary.LittleEndian.Uint32(s.bytes[4*i:]))
		}
		samples = samples[n:]
	}
	return nil
}
