package audio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"
)

// decoderDelay is the delay of every MPEG layer III decoder in samples; the encoder's own
// delay in the LAME tag doesn't include it.
const decoderDelay = 529

// mp3Header is what the four bytes of a layer III frame header say.
type mp3Header struct {
	rate, channels int
	samples        int // a frame
	size           int // bytes of the frame, header included
	sideInfo       int // bytes
}

// parseMP3Header reads a layer III header of MPEG 1 or 2; ok is false for anything else,
// MPEG 2.5 included, which the decoder doesn't know.
func parseMP3Header(b []byte) (h mp3Header, ok bool) {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 || b[1]&0x06 != 0x02 || b[3]&0x03 == 2 {
		return h, false
	}
	version, bitrate, rate := b[1]>>3&3, int(b[2]>>4), b[2]>>2&3
	if version < 2 || bitrate == 0 || bitrate == 15 || rate == 3 {
		return h, false
	}
	h.rate = [3]int{44100, 48000, 32000}[rate]
	h.channels = 2
	if b[3]>>6 == 3 {
		h.channels = 1
	}
	padding := int(b[2] >> 1 & 1)
	if version == 3 { // MPEG 1
		kbps := [15]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}[bitrate]
		h.samples, h.size = 1152, 144000*kbps/h.rate+padding
		h.sideInfo = [3]int{0, 17, 32}[h.channels]
		return h, true
	}
	h.rate /= 2
	kbps := [15]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}[bitrate]
	h.samples, h.size = 576, 72000*kbps/h.rate+padding
	h.sideInfo = [3]int{0, 9, 17}[h.channels]
	return h, true
}

// findMP3 returns where the first frame starts: a header followed by a second header of
// the same rate, or by the end of the data. Zero padding after a tag is passed over.
func findMP3(data []byte) (start int, ok bool) {
	for start < len(data) && data[start] == 0 {
		start++
	}
	h, ok := parseMP3Header(data[start:])
	if !ok {
		return 0, false
	}
	if next := start + h.size; next+4 <= len(data) {
		second, ok := parseMP3Header(data[next:])
		return start, ok && second.rate == h.rate
	}
	return start, true
}

// mp3Info is the Xing or Info frame that most encoders write first. It holds no audio.
type mp3Info struct {
	frames         int // of audio; 0 when not said
	delay, padding int // samples added before and after by the encoder, from the LAME tag
	tagged         bool
}

// readMP3Info looks for the Info frame at the start of data.
func readMP3Info(data []byte, h mp3Header) (info mp3Info, ok bool) {
	at := 4 + h.sideInfo
	if data[1]&1 == 0 {
		at += 2 // CRC
	}
	if len(data) < at+8 {
		return info, false
	}
	if tag := string(data[at : at+4]); tag != "Xing" && tag != "Info" {
		return info, false
	}
	flags := binary.BigEndian.Uint32(data[at+4:])
	at += 8
	for bit, size := range []int{4, 4, 100, 4} { // frames, bytes, seek table, quality
		if flags>>bit&1 == 0 {
			continue
		}
		if len(data) < at+size {
			return info, true
		}
		if bit == 0 {
			info.frames = int(binary.BigEndian.Uint32(data[at:]))
		}
		at += size
	}
	const delayAt = 21 // within the LAME tag: 9 bytes of encoder name, then gains and flags
	if len(data) < at+delayAt+3 || data[at] == 0 || at+delayAt+3 > h.size {
		return info, true
	}
	d := data[at+delayAt:]
	info.delay = int(d[0])<<4 | int(d[1])>>4
	info.padding = int(d[1]&0x0f)<<8 | int(d[2])
	info.tagged = true
	return info, true
}

// decodeMP3 decodes data, which starts at a frame. With a LAME tag the samples that the
// encoder put before and after the audio are removed; without one they can't be known and
// stay (about 50 ms of near silence in front, which Compose trims).
func decodeMP3(data []byte, limits Limits) (PCM, Format, error) {
	return guard("mp3", func() (PCM, Format, error) {
		h, _ := parseMP3Header(data)
		format := Format{Container: "mp3", Rate: h.rate, Channels: h.channels}
		info, ok := readMP3Info(data, h)
		if ok {
			data = data[min(h.size, len(data)):]
		}
		out, err := mp3Samples(data, limits)
		if err != nil {
			return PCM{}, format, err
		}
		if got := len(out) / h.samples; got < info.frames {
			format.Warnings = append(format.Warnings, fmt.Sprintf("mp3: cut: %d frames of %d", got, info.frames))
		} else if info.tagged {
			out = out[:max(0, len(out)-max(0, info.padding-decoderDelay))]
		}
		if info.tagged {
			out = out[min(len(out), info.delay+decoderDelay):]
		}
		return PCM{Rate: h.rate, Samples: out}, format, nil
	})
}

// mp3Samples averages the decoder's two channels; a mono file comes as two equal ones. The
// reader is hidden behind a plain io.Reader, else the decoder reads everything twice to
// learn a length.
func mp3Samples(data []byte, limits Limits) ([]float32, error) {
	if len(data) == 0 {
		return nil, nil
	}
	decoder, err := mp3.NewDecoder(struct{ io.Reader }{bytes.NewReader(data)})
	if err != nil {
		return nil, fmt.Errorf("mp3: %w", err)
	}
	var out []float32
	buf := make([]byte, 4*1152)
	for {
		n, err := io.ReadFull(decoder, buf)
		for i := 0; i+4 <= n; i += 4 {
			left, right := int16(binary.LittleEndian.Uint16(buf[i:])), int16(binary.LittleEndian.Uint16(buf[i+2:]))
			out = append(out, (float32(left)+float32(right))/(1<<16))
		}
		if len(out) > limits.MaxSamples {
			return nil, fmt.Errorf("mp3: more than %d samples: %w", limits.MaxSamples, ErrTooLarge)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("mp3: at sample %d: %w", len(out), err)
		}
	}
}
