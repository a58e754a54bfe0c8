package program

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

// tone returns a mono 16-bit WAV with that many samples of a square wave.
func tone(rate, samples int, amplitude int16) []byte {
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // to memory: can't fail
	b.WriteString("RIFF")
	put(uint32(36 + 2*samples))
	b.WriteString("WAVEfmt ")
	put(uint32(16))
	put([]uint16{1, 1})
	put([]uint32{uint32(rate), uint32(2 * rate)})
	put([]uint16{2, 16})
	b.WriteString("data")
	put(uint32(2 * samples))
	for i := range samples {
		if i%100 < 50 {
			put(amplitude)
		} else {
			put(-amplitude)
		}
	}
	return b.Bytes()
}

func TestParseWAV(t *testing.T) {
	wav, err := ParseWAV(tone(16000, 8000, 1000))
	if err != nil || wav.Rate() != 16000 || wav.Duration() != 500*time.Millisecond {
		t.Errorf("%v, %d Hz, %s", err, wav.Rate(), wav.Duration())
	}
	set := func(at int, values ...byte) []byte {
		file := tone(16000, 10, 1000)
		copy(file[at:], values)
		return file
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":      {nil, "no audio"},
		"text":         {[]byte(strings.Repeat("HTTP/1.1 429 ", 9)), "no plain WAV"},
		"short":        {tone(16000, 10, 1)[:43], "no plain WAV"},
		"no samples":   {tone(16000, 0, 0), "promises 0"},
		"truncated":    {tone(16000, 10, 1)[:60], "promises 20 bytes of samples, 16"},
		"too long":     {append(tone(16000, 10, 1), 0, 0), "promises 20 bytes of samples, 22"},
		"unknown size": {set(40, 0xff, 0xff, 0xff, 0xff), "promises"},
		"float":        {set(20, 3), "format 3"},
		"stereo":       {set(22, 2), "2 channels"},
		"8 bits":       {set(34, 8), "8 bits"},
		"rate 0":       {set(24, 0, 0, 0, 0, 0, 0, 0, 0), "rate 0"},
		"byte rate":    {set(28, 1), "bytes a second"},
		"large format": {set(16, 0xff, 0xff, 0xff, 0x7f), "format"},
		"other chunk":  {set(36, 'L', 'I', 'S', 'T'), "no plain WAV"},
	} {
		if _, err := ParseWAV(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.want)
		}
	}
}

func TestRelabel(t *testing.T) {
	file := tone(16000, 1600, 1000)
	wav, err := ParseWAV(file)
	if err != nil {
		t.Fatal(err)
	}
	relabelled, err := ParseWAV(wav.Relabel(20000))
	if err != nil || relabelled.Rate() != 20000 || relabelled.Duration() != 80*time.Millisecond {
		t.Errorf("%v, %d Hz, %s", err, relabelled.Rate(), relabelled.Duration())
	}
	if !bytes.Equal(file, tone(16000, 1600, 1000)) {
		t.Error("the original was changed")
	}
	if !bytes.Equal(wav.Relabel(20000)[44:], file[44:]) {
		t.Error("the samples were changed")
	}
}

func TestCheckSpeech(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds float64
		loud    int16
		text    string
		want    string // "" is fine
	}{
		{"usual", 2, 1000, "I told you this would happen.", ""},
		{"one word", 0.3, 1000, "No.", ""},
		{"long number", 9, 1000, "1234567890123456", ""},
		{"cut short", 0.2, 1000, "I told you this would happen.", "200ms of audio for 29 characters"},
		{"far too long", 15, 1000, "No.", "15s of audio"},
		{"silence", 2, 0, "I told you this would happen.", "2s of silence"},
		{"dither", 2, 10, "I told you this would happen.", "2s of silence"},
	} {
		wav, err := ParseWAV(tone(16000, int(c.seconds*16000), c.loud))
		if err != nil {
			t.Fatal(err)
		}
		err = wav.CheckSpeech(c.text)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzParseWAV(f *testing.F) {
	f.Add(tone(16000, 10, 1000))
	f.Add(tone(8000, 0, 0))
	f.Add([]byte("RIFF"))
	f.Fuzz(func(t *testing.T, file []byte) {
		wav, err := ParseWAV(file)
		if err != nil {
			return
		}
		if wav.Duration() <= 0 {
			t.Errorf("a WAV of %s was let through", wav.Duration())
		}
		_ = wav.CheckSpeech("some text")
		if again, err := ParseWAV(wav.Relabel(24000)); err != nil || again.Rate() != 24000 {
			t.Errorf("relabelled: %v, %d Hz", err, again.Rate())
		}
	})
}
