package program

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unicode"
)

// WAV is a mono 16-bit PCM file as these engines write it: the chunks RIFF, fmt
// and data and nothing else in front of the samples.
type WAV struct {
	file []byte
	rate int
}

// headerSize is the length of the three chunk headers and the format.
const headerSize = 44

// ParseWAV checks that file is such a WAV file, complete and with at least one
// sample. It keeps file and does not copy it.
func ParseWAV(file []byte) (WAV, error) {
	if len(file) == 0 {
		return WAV{}, errors.New("no audio was written")
	}
	if len(file) < headerSize || string(file[0:4]) != "RIFF" || string(file[8:16]) != "WAVEfmt " || string(file[36:40]) != "data" {
		return WAV{}, fmt.Errorf("%d bytes that are no plain WAV file", len(file))
	}
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(file[at:])) }
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(file[at:])) }
	if u32(16) != 16 || u16(20) != 1 || u16(22) != 1 || u16(34) != 16 {
		return WAV{}, fmt.Errorf("WAV format %d with %d channels of %d bits, want PCM mono 16 bits", u16(20), u16(22), u16(34))
	}
	rate, size := u32(24), u32(40)
	if rate < 8000 || rate > 48000 || u32(28) != 2*rate || u16(32) != 2 {
		return WAV{}, fmt.Errorf("WAV sample rate %d Hz with %d bytes a second", rate, u32(28))
	}
	if size == 0 || size%2 != 0 || size != len(file)-headerSize {
		return WAV{}, fmt.Errorf("WAV header promises %d bytes of samples, %d are there", size, len(file)-headerSize)
	}
	return WAV{file: file, rate: rate}, nil
}

// Rate returns the sample rate in Hz.
func (w WAV) Rate() int { return w.rate }

// Duration returns the length of the audio.
func (w WAV) Duration() time.Duration {
	return time.Duration(len(w.file)-headerSize) / 2 * time.Second / time.Duration(w.rate)
}

// Relabel returns the same samples under another sample rate, as a file. Played
// at that rate all of the voice, its formants too, is shifted by rate/Rate().
func (w WAV) Relabel(rate int) []byte {
	file := append([]byte(nil), w.file...)
	binary.LittleEndian.PutUint32(file[24:], uint32(rate))
	binary.LittleEndian.PutUint32(file[28:], uint32(2*rate))
	return file
}

// CheckSpeech fails when the audio can't be text spoken: when it is silent, too
// short for the text's letters and digits, or far too long.
func (w WAV) CheckSpeech(text string) error {
	const (
		shortest = 15 * time.Millisecond // a letter; fast speech takes 50
		longest  = time.Second           // a character; "$" or "9" may be a whole word
		silence  = 10 * time.Second      // that engines may put around any text
	)
	spoken, characters := 0, 0
	for _, r := range text {
		characters++
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			spoken++
		}
	}
	length := w.Duration()
	if length < time.Duration(spoken)*shortest || length > silence+time.Duration(characters)*longest {
		return fmt.Errorf("%s of audio for %d characters", length.Round(time.Millisecond), characters)
	}
	const audible = 200 // of 32768, -44 dBFS
	for at := headerSize; at < len(w.file); at += 2 {
		if s := int16(binary.LittleEndian.Uint16(w.file[at:])); s > audible || s < -audible {
			return nil
		}
	}
	return fmt.Errorf("%s of silence for %d characters", length.Round(time.Millisecond), characters)
}
