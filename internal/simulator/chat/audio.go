package chat

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
)

// readAudio counts and digests one clip.
func (s *Server) readAudio(p part, a *ask, digest func([]byte) (int, error), bad func(int, string) *refusal) *refusal {
	llama := s.options.Dialect == Llama
	a.prompt.Clips++
	switch {
	case s.options.NoAudio && llama:
		return bad(500, "audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj")
	case s.options.NoAudio:
		return bad(400, s.options.Model+" is not a multimodal model")
	case s.options.AudioIgnored:
		return nil
	case s.options.MaxClips > 0 && a.prompt.Clips > s.options.MaxClips:
		return bad(400, fmt.Sprintf("At most %d audio(s) may be provided in one prompt.", s.options.MaxClips))
	}
	data, refused := p.audioData(llama, bad)
	if refused != nil {
		return refused
	}
	raw := decodeBase64(data, llama)
	switch {
	case len(raw) == 0 && llama:
		return bad(500, "Invalid base64 value")
	case len(raw) == 0:
		return bad(400, "Invalid or unsupported audio file.")
	}
	w, ok := readWAV(raw)
	if !ok || w.frames() == 0 {
		return bad(400, "Failed to load image or audio file")
	}
	if w.frames() == 1 && llama {
		return &refusal{dies: true}
	}
	count := w.frames()
	if cut := int(s.options.CutSeconds * float64(w.rate)); cut > 0 && count > cut {
		count = cut
	}
	seconds := float64(count) / float64(w.rate)
	if llama {
		a.promptTokens += 750*(1+int(seconds/30)) + 2
	} else {
		a.promptTokens += int(25*seconds) + 2
	}
	a.prompt.Seconds += seconds
	if !s.options.AudioUnheard {
		_, _ = digest(w.samples[:2*w.channels*count]) // a hash never fails
	}
	return nil
}

// audioData returns the clip's base64. llama-server takes it as a data URI and
// under another name too, and fetches nothing by default.
func (p part) audioData(llama bool, bad func(int, string) *refusal) (string, *refusal) {
	data := p.InputAudio.Data
	if !llama {
		return data, nil
	}
	switch url := p.InputAudio.URL; {
	case strings.HasPrefix(url, "file:"):
		return "", bad(400, "file:// URLs are not allowed unless --media-path is specified")
	case strings.HasPrefix(url, "http:"), strings.HasPrefix(url, "https:"):
		return "", bad(500, "error: cannot make GET request")
	case url != "":
		data = url
	}
	if _, after, ok := strings.Cut(data, ";base64,"); ok && strings.HasPrefix(data, "data:") {
		data = after
	}
	return data, nil
}

// decodeBase64 returns nil for what can't be decoded. llama-server stops at the
// first character that doesn't belong, and keeps what it has.
func decodeBase64(data string, llama bool) []byte {
	encoding := base64.StdEncoding
	if llama {
		encoding = base64.RawStdEncoding
		if i := strings.IndexFunc(data, foreign); i >= 0 {
			data = data[:i]
		}
		if len(data)%4 == 1 { // no whole byte
			data = data[:len(data)-1]
		}
	}
	raw, err := encoding.DecodeString(data)
	if err != nil {
		return nil
	}
	return raw
}

// foreign reports whether a character is not of the standard alphabet; padding
// ends the data too.
func foreign(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '+' && r != '/'
}

// waveform is 16-bit samples, the channels interleaved.
type waveform struct {
	samples        []byte
	channels, rate int
}

func (w waveform) frames() int { return len(w.samples) / 2 / w.channels }

// readWAV reads a 16-bit WAV, as far as it goes.
func readWAV(raw []byte) (w waveform, ok bool) {
	if len(raw) < 12 || string(raw[:4]) != "RIFF" || string(raw[8:12]) != "WAVE" {
		return waveform{}, false
	}
	for rest := raw[12:]; len(rest) >= 8; {
		name, size := string(rest[:4]), int(binary.LittleEndian.Uint32(rest[4:8]))
		content := rest[8:]
		content = content[:min(max(size, 0), len(content))]
		switch {
		case name == "fmt " && len(content) >= 16:
			w.channels, w.rate = int(binary.LittleEndian.Uint16(content[2:])), int(binary.LittleEndian.Uint32(content[4:]))
			if w.rate <= 0 || w.channels == 0 || binary.LittleEndian.Uint16(content[14:]) != 16 {
				return waveform{}, false
			}
		case name == "data":
			w.samples = content
			return w, w.rate > 0
		}
		rest = rest[min(8+len(content)+len(content)%2, len(rest)):]
	}
	return waveform{}, false
}
