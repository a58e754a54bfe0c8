package audio

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	goaudio "github.com/go-audio/audio"
	"github.com/go-audio/wav"
)

// maxWAVSamples keeps every size in a 16-bit mono WAV, INFO chunk included, under 4 GiB,
// where the encoder would wrap silently.
const maxWAVSamples = math.MaxUint32/2 - 1<<12

// EncodeWAV writes p as 16-bit mono WAV, clamped to full scale, with prov and
// synthetic=true in its INFO chunk when prov isn't nil.
func EncodeWAV(dst io.WriteSeeker, p PCM, prov *Provenance) error {
	w, err := newWAVWriter(dst, p.Rate, prov)
	if err != nil {
		return err
	}
	if err := w.write(p.Samples); err != nil {
		return err
	}
	return w.close()
}

// wavWriter writes mono 16-bit WAV block by block.
type wavWriter struct {
	encoder *wav.Encoder
	block   goaudio.IntBuffer
	written int
}

func newWAVWriter(dst io.WriteSeeker, rate int, prov *Provenance) (*wavWriter, error) {
	if rate < minRate || rate > maxRate {
		return nil, fmt.Errorf("encode wav: rate of %d Hz, valid are %d to %d", rate, minRate, maxRate)
	}
	w := &wavWriter{encoder: wav.NewEncoder(dst, rate, 16, 1, 1)}
	w.block.Format = &goaudio.Format{NumChannels: 1, SampleRate: rate}
	w.block.SourceBitDepth = 16
	if prov != nil {
		w.encoder.Metadata = &wav.Metadata{
			Title:    infoText(prov.Title),
			Source:   infoText(prov.Synthesizer),
			Software: infoText(prov.Software),
			Comments: infoText("synthetic=true"),
		}
	}
	// An empty write makes the encoder write its headers even when no sample follows.
	return w, w.write(nil)
}

// write appends samples, rounded to 16 bits and clamped to full scale.
func (w *wavWriter) write(samples []float32) error {
	if w.written += len(samples); w.written > maxWAVSamples {
		return errors.New("encode wav: the clip exceeds 4 GiB: split the dialogue")
	}
	const most = 1 << 14
	for first := true; first || len(samples) > 0; first = false {
		part := samples[:min(len(samples), most)]
		samples = samples[len(part):]
		w.block.Data = w.block.Data[:0]
		for _, s := range part {
			w.block.Data = append(w.block.Data, toInt16(s))
		}
		if err := w.encoder.Write(&w.block); err != nil {
			return fmt.Errorf("encode wav: %w", err)
		}
	}
	return nil
}

// close writes the INFO chunk and the sizes; it doesn't close the destination.
func (w *wavWriter) close() error {
	if err := w.encoder.Close(); err != nil {
		return fmt.Errorf("encode wav: %w", err)
	}
	return nil
}

// toInt16 scales to 16 bits, rounds to nearest and clamps; NaN becomes silence.
func toInt16(s float32) int {
	v := s * (1 << 15)
	switch {
	case v >= math.MaxInt16:
		return math.MaxInt16
	case v <= math.MinInt16:
		return math.MinInt16
	case v >= 0:
		return int(v + 0.5)
	case v < 0:
		return int(v - 0.5)
	}
	return 0
}

// infoText makes untrusted text fit an INFO entry: printable ASCII, at most 255 bytes, and
// of odd length, because the encoder adds one NUL but not the padding that an odd entry
// would need.
func infoText(s string) string {
	if s == "" {
		return ""
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '_'
		}
		return r
	}, s)
	s = s[:min(len(s), 255)]
	if len(s)%2 == 0 {
		s += " "
	}
	return s
}

// Buffer is an io.WriteSeeker in memory, for EncodeWAV and Compose. The zero value is empty
// and ready.
type Buffer struct {
	data []byte
	at   int
}

// Bytes returns what was written; it is valid until the next write.
func (b *Buffer) Bytes() []byte { return b.data }

func (b *Buffer) Write(p []byte) (int, error) {
	if missing := b.at + len(p) - len(b.data); missing > 0 {
		b.data = append(b.data, make([]byte, missing)...)
	}
	b.at += copy(b.data[b.at:], p)
	return len(p), nil
}

// Seek moves within what was written; it returns an error for a place outside.
func (b *Buffer) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += int64(b.at)
	case io.SeekEnd:
		offset += int64(len(b.data))
	}
	if offset < 0 || offset > int64(len(b.data)) {
		return 0, fmt.Errorf("seek to %d of %d bytes", offset, len(b.data))
	}
	b.at = int(offset)
	return offset, nil
}
