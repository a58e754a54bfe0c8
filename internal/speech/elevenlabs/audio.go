package elevenlabs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const bytesPerSample = 2 // signed 16 bits, little-endian, mono

// What length of audio a text may have. The bounds are wide: they find a reply
// that was cut or that is no speech, not a hasty reader.
const (
	shortest = 15 * time.Millisecond // a letter; fast speech takes 50
	longest  = time.Second           // a character; "9" may be a whole word
	silences = 10 * time.Second      // around any text
)

// maxAudio bounds a reply, in bytes: over ten minutes at the highest rate.
const maxAudio = 64 << 20

// longestAudio returns how many bytes of audio the characters may have.
func longestAudio(characters, rate int) int64 {
	seconds := int64((silences + time.Duration(characters)*longest).Seconds())
	return min(seconds*int64(rate)*bytesPerSample, maxAudio)
}

// checkAudio fails when a reply's body can't be the text spoken: when it is empty,
// something else than samples, half a sample short, too short for the text, or
// silent.
func checkAudio(r reply, text string, rate int) error {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // "" says nothing
	size := len(r.Body)
	switch {
	case size == 0:
		return errors.New("the reply is empty")
	case media == "application/json", strings.HasPrefix(media, "text/"), looksLikeText(r.Body):
		return fmt.Errorf("the reply is no audio but %d bytes of text", size)
	case size%bytesPerSample != 0:
		return fmt.Errorf("the audio of %d bytes ends within a sample", size)
	}
	spoken := 0
	for _, c := range text {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			spoken++
		}
	}
	length := time.Duration(size/bytesPerSample) * time.Second / time.Duration(rate)
	if length < time.Duration(spoken)*shortest {
		return fmt.Errorf("%s of audio for %d characters", length.Round(time.Millisecond), utf8.RuneCountInString(text))
	}
	const audible = 200 // of 32768, -44 dBFS
	for at := 0; at < size; at += bytesPerSample {
		if s := int16(binary.LittleEndian.Uint16(r.Body[at:])); s > audible || s < -audible {
			return nil
		}
	}
	return fmt.Errorf("%s of silence for %d characters", length.Round(time.Millisecond), utf8.RuneCountInString(text))
}

// looksLikeText finds JSON, HTML and XML whatever the reply's header calls it.
// Samples may begin with the same byte, but not go on like it.
func looksLikeText(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	for _, start := range []string{"<!", "<?", "<html"} {
		if len(body) >= len(start) && strings.EqualFold(string(body[:len(start)]), start) && utf8.Valid(body) {
			return true
		}
	}
	return json.Valid(body)
}

// wav returns the samples as a file. It appends nothing to and keeps nothing of
// pcm.
func wav(pcm []byte, rate int) []byte {
	const header = 44
	file := make([]byte, 0, header+len(pcm))
	u16 := func(v int) { file = binary.LittleEndian.AppendUint16(file, uint16(v)) }
	u32 := func(v int) { file = binary.LittleEndian.AppendUint32(file, uint32(v)) } // maxAudio fits
	file = append(file, "RIFF"...)
	u32(header - 8 + len(pcm))
	file = append(file, "WAVEfmt "...)
	u32(16)
	u16(1) // PCM
	u16(1) // channel
	u32(rate)
	u32(rate * bytesPerSample)
	u16(bytesPerSample)
	u16(8 * bytesPerSample)
	file = append(file, "data"...)
	u32(len(pcm))
	return append(file, pcm...)
}
