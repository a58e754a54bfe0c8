package elevenlabs

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"unicode"
)

const (
	perCharacter = 0.06 // seconds; English is read at about 16 characters a second
	margin       = 0.1  // seconds of silence before and after
	loudest      = 0.3  // of full scale
)

// audio sings the text: a tone for each letter and digit, silence for the rest.
// The voice, the model, the settings, the seed and the neighbours shift the pitch,
// so that each of them is heard.
func (r request) audio() []byte {
	seed := int64(-1)
	if r.Seed != nil {
		seed = *r.Seed
	}
	hash := fnv.New32a() // its Write doesn't fail
	_, _ = fmt.Fprintf(hash, "%q %q %s %d %q %q", r.voice, r.Model, r.Settings, seed, r.Before, r.After)
	base := 100 + float64(hash.Sum32()%20000)/100 // Hz

	text := []rune(r.Text)
	if len(text) == 0 {
		text = []rune(" ") // the service sings a short silence too
	}
	pad, step := int(margin*float64(r.rate)), int(perCharacter*float64(r.rate))
	pcm := make([]byte, 2*(2*pad+len(text)*step))
	for i, character := range text {
		if !unicode.IsLetter(character) && !unicode.IsDigit(character) {
			continue
		}
		frequency := base * math.Exp2(float64(character%24)/12)
		for n := range step {
			rise := math.Sin(math.Pi * float64(n) / float64(step)) // no click
			value := loudest * rise * math.Sin(2*math.Pi*frequency*float64(n)/float64(r.rate))
			binary.LittleEndian.PutUint16(pcm[2*(pad+i*step+n):], uint16(int16(value*math.MaxInt16)))
		}
	}
	if r.container == "pcm" {
		return pcm
	}
	return append(r.header(len(pcm)), pcm...)
}

// header is of a 16-bit mono WAV file with size bytes of samples.
func (r request) header(size int) []byte {
	head := []byte("RIFF")
	head = binary.LittleEndian.AppendUint32(head, uint32(36+size))
	head = append(head, "WAVEfmt "...)
	for _, field := range []any{
		uint32(16), uint16(1), uint16(1), uint32(r.rate), uint32(2 * r.rate), uint16(2), uint16(16),
	} {
		head, _ = binary.Append(head, binary.LittleEndian, field) // fixed sizes don't fail
	}
	head = append(head, "data"...)
	return binary.LittleEndian.AppendUint32(head, uint32(size))
}
