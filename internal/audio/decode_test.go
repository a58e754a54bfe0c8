package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"
)

// riff builds a WAV from chunks; each is an id, a claimed size (-1: the true one) and a body.
type chunk struct {
	id   string
	size int64
	body []byte
}

func riff(chunks ...chunk) []byte {
	out := []byte("RIFF\xff\xff\xff\xffWAVE")
	for _, c := range chunks {
		size := uint32(len(c.body))
		if c.size >= 0 {
			size = uint32(c.size)
		}
		out = append(out, c.id...)
		out = binary.LittleEndian.AppendUint32(out, size)
		out = append(out, c.body...)
		if len(c.body)%2 == 1 {
			out = append(out, 0)
		}
	}
	return out
}

func fmtChunk(tag, channels, rate, bits int) chunk {
	var b []byte
	b = binary.LittleEndian.AppendUint16(b, uint16(tag))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*channels*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(bits))
	return chunk{"fmt ", -1, b}
}

func extensible(subformat int) chunk {
	c := fmtChunk(0xfffe, 1, 24000, 16)
	c.body = append(c.body, 22, 0, 16, 0, 0, 0, 0, 0, byte(subformat), 0)
	c.body = append(c.body, pcmGUID...)
	return c
}

func TestDecodeWAV(t *testing.T) {
	pcm16 := []byte{0x00, 0x40, 0x00, 0xc0, 0x00, 0x20} // 0.5 -0.5 0.25
	list := chunk{"LIST", -1, []byte("INFOISFT\x04\x00\x00\x00abc\x00")}
	for _, test := range []struct {
		name    string
		data    []byte
		want    []float32
		warning string
	}{
		{"16 bit", riff(fmtChunk(1, 1, 24000, 16), chunk{"data", -1, pcm16}), []float32{.5, -.5, .25}, ""},
		{"chunks around", riff(list, fmtChunk(1, 1, 24000, 16), chunk{"odd ", -1, []byte("x")}, chunk{"data", -1, pcm16}, list), []float32{.5, -.5, .25}, ""},
		{"8 bit is unsigned", riff(fmtChunk(1, 1, 24000, 8), chunk{"data", -1, []byte{0xc0, 0x40, 0x80}}), []float32{.5, -.5, 0}, ""},
		{"24 bit", riff(fmtChunk(1, 1, 24000, 24), chunk{"data", -1, []byte{0, 0, 0x40, 0, 0, 0xc0}}), []float32{.5, -.5}, ""},
		{"32 bit", riff(fmtChunk(1, 1, 24000, 32), chunk{"data", -1, []byte{0, 0, 0, 0x40, 0, 0, 0, 0xc0}}), []float32{.5, -.5}, ""},
		{"stereo is averaged", riff(fmtChunk(1, 2, 24000, 16), chunk{"data", -1, []byte{0, 0x40, 0, 0x20, 0, 0xc0, 0, 0x40}}), []float32{.375, 0}, ""},
		{"extensible", riff(extensible(1), chunk{"data", -1, pcm16}), []float32{.5, -.5, .25}, ""},
		{"size 0xFFFFFFFF", riff(fmtChunk(1, 1, 24000, 16), chunk{"data", 0xffffffff, pcm16}), []float32{.5, -.5, .25}, "clamped"},
		{"size 0 of a stream", riff(fmtChunk(1, 1, 24000, 16), chunk{"data", 0, pcm16}), []float32{.5, -.5, .25}, "clamped"},
		{"size too large", riff(fmtChunk(1, 1, 24000, 16), chunk{"data", 100, pcm16}), []float32{.5, -.5, .25}, "clamped"},
		{"last frame cut", riff(fmtChunk(1, 1, 24000, 16), chunk{"data", 100, pcm16[:4]}, chunk{"", -1, nil})[:47], []float32{.5}, "incomplete"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, format, err := Decode(test.data)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Samples, test.want) || p.Rate != 24000 || format.Container != "wav" {
				t.Errorf("got %v at %d Hz from %q, want %v at 24000", p.Samples, p.Rate, format.Container, test.want)
			}
			if warnings := strings.Join(format.Warnings, "\n"); !strings.Contains(warnings, test.warning) || (test.warning == "") != (warnings == "") {
				t.Errorf("warnings %q, want %q", warnings, test.warning)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	data := chunk{"data", -1, make([]byte, 8)}
	badAlign := fmtChunk(1, 1, 24000, 16)
	badAlign.body[12] = 3
	hugeFmt := fmtChunk(1, 1, 24000, 16)
	hugeFmt.size = 0x7fffffff
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "no bytes"},
		{"float", riff(fmtChunk(3, 1, 24000, 32), data), "32-bit float is not supported"},
		{"extensible float", riff(extensible(3), data), "32-bit float is not supported"},
		{"A-law", riff(fmtChunk(6, 1, 8000, 8), data), "A-law is not supported"},
		{"unknown format", riff(fmtChunk(0x1234, 1, 8000, 8), data), "format 0x1234"},
		{"12 bit", riff(fmtChunk(1, 1, 24000, 12), data), "12 bits"},
		{"no channels", riff(fmtChunk(1, 0, 24000, 16), data), "0 channels"},
		{"no rate", riff(fmtChunk(1, 1, 0, 16), data), "rate of 0 Hz"},
		{"wrong block", riff(badAlign, data), "block of 3 bytes"},
		{"fmt of 2 GiB", riff(hugeFmt, data), "fmt chunk of 2147483647 bytes"},
		{"data first", riff(data, fmtChunk(1, 1, 24000, 16)), "data before fmt"},
		{"no data", riff(fmtChunk(1, 1, 24000, 16)), "no data chunk"},
		{"empty data", riff(fmtChunk(1, 1, 24000, 16), chunk{"data", -1, nil}), "no samples"},
		{"empty data before metadata", riff(fmtChunk(1, 1, 24000, 16), chunk{"data", 0, nil}, chunk{"LIST", -1, []byte("INFO")}), "no samples"},
		{"an AVI", []byte("RIFF\x00\x00\x00\x00AVI LIST"), "without WAVE"},
		{"big-endian WAV", []byte("RIFX\x00\x00\x00\x00WAVE"), "big-endian"},
		{"Ogg", []byte("OggS\x00\x02"), "Ogg"},
		{"MP4", []byte("\x00\x00\x00\x20ftypM4A "), "MP4"},
		{"an error page", []byte("<html><title>429</title>"), "error message saved as audio"},
		{"a tag and nothing else", []byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), "not WAV, MP3 or FLAC"},
		{"cut FLAC", []byte("fLaC\x00\x00\x00\x22"), "flac"},
		{"one MP3 header", []byte{0xff, 0xfb, 0x90, 0x00}, "mp3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, _, err := Decode(test.data); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestDecodeLimits(t *testing.T) {
	data := wavBytes(t, sine(8000, 1, 100, 0.5))
	for name, l := range map[string]Limits{
		"bytes":   {MaxBytes: 1000, MaxSamples: 1 << 20},
		"samples": {MaxBytes: 1 << 20, MaxSamples: 7999},
	} {
		if _, _, err := l.DecodeReader(bytes.NewReader(data)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: error %v, want ErrTooLarge", name, err)
		}
	}
	fits := Limits{MaxBytes: int64(len(data)), MaxSamples: 8000}
	if _, _, err := fits.DecodeReader(bytes.NewReader(data)); err != nil {
		t.Error(err)
	}
}

// flacBytes encodes p without compression.
func flacBytes(t testing.TB, p PCM) []byte {
	t.Helper()
	var out bytes.Buffer
	info := &meta.StreamInfo{BlockSizeMin: 4096, BlockSizeMax: 4096, SampleRate: uint32(p.Rate), NChannels: 1, BitsPerSample: 16, NSamples: uint64(len(p.Samples))}
	encoder, err := flac.NewEncoder(&out, info)
	if err != nil {
		t.Fatal(err)
	}
	for rest := p.Samples; len(rest) > 0; {
		n := min(4096, len(rest))
		block := make([]int32, n)
		for i, v := range rest[:n] {
			block[i] = int32(toInt16(v))
		}
		rest = rest[n:]
		err := encoder.WriteFrame(&frame.Frame{
			Header:    frame.Header{BlockSize: uint16(n), SampleRate: uint32(p.Rate), Channels: frame.ChannelsMono, BitsPerSample: 16},
			Subframes: []*frame.Subframe{{SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, Samples: block, NSamples: n}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := encoder.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDecodeFLAC(t *testing.T) {
	p := sine(16000, 1, 440, 0.7)
	data := flacBytes(t, p)
	got, format, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if format.Container != "flac" || format.Bits != 16 || got.Rate != 16000 || len(got.Samples) != len(p.Samples) {
		t.Errorf("%+v, %d samples at %d Hz", format, len(got.Samples), got.Rate)
	}
	for i := range got.Samples {
		if math.Abs(float64(got.Samples[i]-p.Samples[i])) > 1.0/(1<<15) {
			t.Fatalf("sample %d is %g, want %g", i, got.Samples[i], p.Samples[i])
		}
	}
	if _, _, err := Decode(data[:len(data)-5000]); err == nil {
		t.Error("a cut FLAC was accepted")
	}
	data[len(data)/2] ^= 0xff
	if _, _, err := Decode(data); err == nil {
		t.Error("a damaged FLAC was accepted")
	}
}

// An MP3 with an encoder's tag comes back in its original length and place; ID3 tags and a
// cut end are coped with.
func TestDecodeMP3(t *testing.T) {
	for _, rate := range []int{44100, 24000} {
		p := PCM{Rate: rate, Samples: make([]float32, rate)}
		copy(p.Samples[rate/2:], sine(rate, 0.1, 1000, 0.5).Samples)
		path := filepath.Join(t.TempDir(), "x.mp3")
		output(t, "ffmpeg", "-v", "error", "-i", wavFile(t, p), "-b:a", "64k", path)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, format, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if format.Container != "mp3" || got.Rate != rate || len(format.Warnings) > 0 {
			t.Errorf("%+v at %d Hz", format, got.Rate)
		}
		near(t, "samples", float64(len(got.Samples)), float64(rate), 0)
		onset := slices.IndexFunc(got.Samples, func(v float32) bool { return v > 0.25 || v < -0.25 })
		near(t, "onset in ms", 1000*float64(onset)/float64(rate), 500, 2)

		cut, format, err := Decode(data[:len(data)*2/3])
		if err != nil {
			t.Fatal(err)
		}
		if len(cut.Samples) >= len(got.Samples) || !slices.ContainsFunc(format.Warnings, func(w string) bool { return strings.Contains(w, "cut") }) {
			t.Errorf("cut file: %d samples of %d, warnings %q", len(cut.Samples), len(got.Samples), format.Warnings)
		}
	}
}

// The paper's real clips decode to the length that ffmpeg decodes them to.
func TestDecodeSharedClips(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(shared(t, "data/speechmentalmanip/clips"), "*.mp3"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no clips: %v", err)
	}
	tool(t, "ffprobe")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, format, err := Decode(data)
		if err != nil || len(format.Warnings) > 0 {
			t.Errorf("%s: %v %q", filepath.Base(path), err, format.Warnings)
			continue
		}
		out := output(t, "ffprobe", "-v", "error", "-show_entries", "stream=duration", "-of", "csv=p=0", path)
		want, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			t.Fatal(err)
		}
		// ffprobe counts whole frames, Decode drops the encoder's padding.
		near(t, filepath.Base(path), p.Seconds(), want, 0.08)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(riff(fmtChunk(1, 2, 24000, 16), chunk{"data", 0xffffffff, make([]byte, 64)}))
	f.Add(riff(extensible(1), chunk{"data", 0, make([]byte, 9)}))
	f.Add(flacBytes(f, sine(8000, 0.05, 300, 0.5)))
	f.Add([]byte("ID3\x04\x00\x00\x00\x00\x00\x02ab\xff\xfb\x90\x00"))
	f.Add(append([]byte{0xff, 0xf3, 0x40, 0xc0}, make([]byte, 600)...))
	limits := Limits{MaxBytes: 1 << 16, MaxSamples: 1 << 18}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, format, err := limits.Decode(data)
		if err != nil {
			return
		}
		if len(p.Samples) == 0 || len(p.Samples) > limits.MaxSamples || p.Rate < minRate || p.Rate != format.Rate {
			t.Errorf("%d samples at %d Hz from %+v", len(p.Samples), p.Rate, format)
		}
		for _, v := range p.Samples {
			if !(v >= -1.01 && v <= 1.01) {
				t.Fatalf("sample %g", v)
			}
		}
	})
}
