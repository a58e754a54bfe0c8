package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// wavFormats names what a WAV's format tag means, for refusals.
var wavFormats = map[uint16]string{
	0x0002: "Microsoft ADPCM", 0x0003: "32-bit float", 0x0006: "A-law", 0x0007: "mu-law",
	0x0011: "IMA ADPCM", 0x0031: "GSM 6.10", 0x0050: "MPEG layer II", 0x0055: "MP3 in WAV", 0x00ff: "AAC",
}

// pcmGUID is the tail of every KSDATAFORMAT sub-format; the first two bytes are the tag.
var pcmGUID = []byte{0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71}

// decodeWAV walks the RIFF chunks itself: the header of a streamed or cut WAV lies about
// its sizes, and nothing may be allocated or skipped on its word.
func decodeWAV(data []byte, limits Limits) (PCM, Format, error) {
	format := Format{Container: "wav"}
	if len(data) < 12 || string(data[8:12]) != "WAVE" {
		return PCM{}, format, errors.New("wav: RIFF file without WAVE")
	}
	haveFmt := false
	for rest := data[12:]; len(rest) >= 8; {
		id, size := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:8]))
		rest = rest[8:]
		switch id {
		case "fmt ":
			if size < 16 || size > int64(len(rest)) {
				return PCM{}, format, fmt.Errorf("wav: fmt chunk of %d bytes, %d are present", size, len(rest))
			}
			if err := readFmt(rest[:size], &format); err != nil {
				return PCM{}, format, err
			}
			haveFmt = true
		case "data":
			if !haveFmt {
				return PCM{}, format, errors.New("wav: data before fmt chunk")
			}
			body := clampData(rest, size, &format)
			pcm, err := wavSamples(body, &format, limits)
			return pcm, format, err
		}
		if size += size & 1; size > int64(len(rest)) { // chunks are padded to even sizes
			break
		}
		rest = rest[size:]
	}
	return PCM{}, format, errors.New("wav: no data chunk")
}

// clampData returns the bytes of the data chunk that are really there. Streaming writers
// leave 0 or 0xFFFFFFFF as the size.
func clampData(rest []byte, size int64, format *Format) []byte {
	if size == 0 && len(rest) > 0 {
		if len(rest) >= 8 && slices.Contains([]string{"LIST", "id3 ", "ID3 ", "bext", "cue ", "smpl"}, string(rest[:4])) {
			return nil
		}
		size = int64(len(rest)) + 1
	}
	if size <= int64(len(rest)) {
		return rest[:size]
	}
	format.Warnings = append(format.Warnings, fmt.Sprintf("wav: data size clamped to the %d bytes present", len(rest)))
	return rest
}

func readFmt(chunk []byte, format *Format) error {
	tag := binary.LittleEndian.Uint16(chunk)
	format.Channels = int(binary.LittleEndian.Uint16(chunk[2:]))
	rate := binary.LittleEndian.Uint32(chunk[4:])
	align := int(binary.LittleEndian.Uint16(chunk[12:]))
	format.Bits = int(binary.LittleEndian.Uint16(chunk[14:]))
	if tag == 0xfffe {
		if len(chunk) < 40 || !bytes.Equal(chunk[26:40], pcmGUID) {
			return errors.New("wav: extensible format with an unknown sub-format")
		}
		tag = binary.LittleEndian.Uint16(chunk[24:])
	}
	if tag != 1 {
		name, ok := wavFormats[tag]
		if !ok {
			name = fmt.Sprintf("format 0x%04x", tag)
		}
		return fmt.Errorf("wav: %s is not supported: convert to 16-bit PCM", name)
	}
	if format.Channels < 1 || format.Channels > maxChannels {
		return fmt.Errorf("wav: %d channels, valid are 1 to %d", format.Channels, maxChannels)
	}
	if rate < minRate || rate > maxRate {
		return fmt.Errorf("wav: rate of %d Hz, valid are %d to %d", rate, minRate, maxRate)
	}
	format.Rate = int(rate)
	switch format.Bits {
	case 8, 16, 24, 32:
	default:
		return fmt.Errorf("wav: %d bits a sample, valid are 8, 16, 24 and 32", format.Bits)
	}
	if align != format.Channels*format.Bits/8 {
		return fmt.Errorf("wav: block of %d bytes for %d channels of %d bits", align, format.Channels, format.Bits)
	}
	return nil
}

// wavSamples converts whole frames to mono. 8-bit WAV is unsigned, all else signed.
func wavSamples(body []byte, format *Format, limits Limits) (PCM, error) {
	width := format.Bits / 8
	block := width * format.Channels
	frames := len(body) / block
	if frames*block != len(body) {
		format.Warnings = append(format.Warnings, "wav: last frame incomplete, dropped")
	}
	if frames > limits.MaxSamples {
		return PCM{}, fmt.Errorf("wav: %d samples, at most %d: %w", frames, limits.MaxSamples, ErrTooLarge)
	}
	out := make([]float32, frames)
	if format.Bits == 16 && format.Channels == 1 { // what nearly every turn is
		for i := range out {
			out[i] = float32(int16(binary.LittleEndian.Uint16(body[2*i:]))) / (1 << 15)
		}
		return PCM{Rate: format.Rate, Samples: out}, nil
	}
	scale := 1 / float64(format.Channels)
	for i := range out {
		var sum float64
		for c := range format.Channels {
			s := body[i*block+c*width:]
			switch width {
			case 1:
				sum += float64(int(s[0])-128) / (1 << 7)
			case 2:
				sum += float64(int16(binary.LittleEndian.Uint16(s))) / (1 << 15)
			case 3:
				sum += float64(int32(uint32(s[0])<<8|uint32(s[1])<<16|uint32(s[2])<<24)) / (1 << 31)
			case 4:
				sum += float64(int32(binary.LittleEndian.Uint32(s))) / (1 << 31)
			}
		}
		out[i] = float32(sum * scale)
	}
	return PCM{Rate: format.Rate, Samples: out}, nil
}
