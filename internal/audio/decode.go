package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Format says what an encoded file was before Decode made mono PCM of it.
type Format struct {
	Container string   `json:"container"`          // wav, mp3 or flac
	Rate      int      `json:"rate"`               // samples per second
	Channels  int      `json:"channels"`           // before the downmix
	Bits      int      `json:"bits,omitempty"`     // per sample; 0 for mp3
	Warnings  []string `json:"warnings,omitempty"` // what was repaired while reading
}

// Limits bound what a decoder may take in and allocate, whatever a header claims.
type Limits struct {
	MaxBytes   int64 // encoded bytes
	MaxSamples int   // decoded samples per channel
}

// DefaultLimits allows 128 MiB of encoded audio and 2^26 samples (46 minutes at 24 kHz).
func DefaultLimits() Limits { return Limits{MaxBytes: 128 << 20, MaxSamples: 1 << 26} }

// ErrTooLarge is returned, wrapped, when audio exceeds the Limits.
var ErrTooLarge = errors.New("audio exceeds the limit")

// The rates a header may claim. Anything outside is a broken header, not audio.
const (
	minRate     = 1000
	maxRate     = 384000
	maxChannels = 16
)

// Decode reads a whole WAV, MP3 or FLAC file into mono PCM within DefaultLimits; see
// Limits.Decode.
func Decode(data []byte) (PCM, Format, error) { return DefaultLimits().Decode(data) }

// DecodeReader reads r to its end and decodes it within DefaultLimits.
func DecodeReader(r io.Reader) (PCM, Format, error) { return DefaultLimits().DecodeReader(r) }

// DecodeReader reads r to its end, at most MaxBytes, and decodes it.
func (l Limits) DecodeReader(r io.Reader) (PCM, Format, error) {
	data, err := io.ReadAll(io.LimitReader(r, l.MaxBytes+1))
	if err != nil {
		return PCM{}, Format{}, fmt.Errorf("read audio: %w", err)
	}
	return l.Decode(data)
}

// Decode recognises the container by its first bytes, never by a name, and averages the
// channels to mono. A WAV whose sizes are wrong is read as far as its bytes go and an MP3
// that stops early as far as its frames go, each with a warning in Format; FLAC carries
// checksums and is refused when damaged. It returns an error for empty, unknown or
// unsupported data and never panics.
func (l Limits) Decode(data []byte) (PCM, Format, error) {
	if len(data) == 0 {
		return PCM{}, Format{}, errors.New("decode audio: no bytes")
	}
	if int64(len(data)) > l.MaxBytes {
		return PCM{}, Format{}, fmt.Errorf("decode audio: more than %d bytes: %w", l.MaxBytes, ErrTooLarge)
	}
	body := skipID3(data)
	var (
		pcm    PCM
		format Format
		err    error
	)
	switch {
	case bytes.HasPrefix(body, []byte("RIFF")):
		pcm, format, err = decodeWAV(body, l)
	case bytes.HasPrefix(body, []byte("fLaC")):
		pcm, format, err = decodeFLAC(body, l)
	default:
		start, ok := findMP3(body)
		if !ok {
			return PCM{}, Format{}, fmt.Errorf("decode audio: not WAV, MP3 or FLAC but %s", describe(body))
		}
		pcm, format, err = decodeMP3(body[start:], l)
	}
	if err != nil {
		return PCM{}, format, fmt.Errorf("decode audio: %w", err)
	}
	if len(pcm.Samples) == 0 {
		return PCM{}, format, fmt.Errorf("decode audio: the %s file holds no samples", format.Container)
	}
	return pcm, format, nil
}

// skipID3 returns data without a leading ID3v2 tag. A tag that claims more bytes than
// there are is left in place, so that the file is refused as unknown.
func skipID3(data []byte) []byte {
	if len(data) < 10 || !bytes.HasPrefix(data, []byte("ID3")) {
		return data
	}
	size := 10 + int(data[6]&0x7f)<<21 | int(data[7]&0x7f)<<14 | int(data[8]&0x7f)<<7 | int(data[9]&0x7f)
	if size > len(data) {
		return data
	}
	return data[size:]
}

// describe names what unknown bytes look like, for the person who reads the error.
func describe(data []byte) string {
	for _, known := range []struct{ prefix, name string }{
		{"OggS", "Ogg"}, {"RIFX", "big-endian WAV"}, {"RF64", "RF64 (WAV beyond 4 GiB)"}, {"FORM", "AIFF"},
		{"caff", "CAF"}, {".snd", "Sun audio"}, {"version https://git-lfs", "a Git LFS pointer"},
		{"\xff\xf1", "AAC"}, {"\xff\xf9", "AAC"},
	} {
		if bytes.HasPrefix(data, []byte(known.prefix)) {
			return known.name
		}
	}
	if len(data) >= 8 && string(data[4:8]) == "ftyp" {
		return "MP4"
	}
	head := data[:min(len(data), 24)]
	if text := strings.TrimSpace(string(head)); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "<") {
		return fmt.Sprintf("text that begins %q (an error message saved as audio?)", head)
	}
	return fmt.Sprintf("bytes that begin %q", head)
}

// guard runs a third-party decoder and turns a panic on damaged input into an error.
func guard(container string, decode func() (PCM, Format, error)) (pcm PCM, format Format, err error) {
	defer func() {
		if r := recover(); r != nil {
			pcm, err = PCM{}, fmt.Errorf("%s: damaged data: %v", container, r)
		}
	}()
	return decode()
}
