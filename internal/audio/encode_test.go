package audio

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// walk reads the chunks of a RIFF file strictly: sizes add up to the byte, chunks are
// padded. It returns the bodies by id.
func walk(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	if string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		t.Fatalf("starts %q", data[:12])
	}
	if size := int(binary.LittleEndian.Uint32(data[4:])); size != len(data)-8 {
		t.Errorf("RIFF size %d, file has %d after it", size, len(data)-8)
	}
	return chunks(t, data[12:])
}

func chunks(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for len(data) > 0 {
		if len(data) < 8 {
			t.Fatalf("%d stray bytes", len(data))
		}
		id, size := string(data[:4]), int(binary.LittleEndian.Uint32(data[4:]))
		padded := size + size%2
		if 8+padded > len(data) {
			t.Fatalf("chunk %q of %d bytes, %d are left", id, size, len(data)-8)
		}
		found[id] = data[8 : 8+size]
		data = data[8+padded:]
	}
	return found
}

func TestEncodeWAVRiffWalk(t *testing.T) {
	prov := Provenance{Title: "dialogue “7”\n\x00", Synthesizer: "flite 2.2", Software: strings.Repeat("s", 400)}
	var b Buffer
	if err := EncodeWAV(&b, PCM{Rate: 24000, Samples: []float32{0, 0.5, -0.5}}, &prov); err != nil {
		t.Fatal(err)
	}
	got := walk(t, b.Bytes())
	if diff := cmp.Diff([]byte{0, 0, 0, 0x40, 0, 0xc0}, got["data"]); diff != "" {
		t.Error(diff)
	}
	info := got["LIST"]
	if len(info) < 4 || string(info[:4]) != "INFO" {
		t.Fatalf("LIST chunk %q", info)
	}
	entries := chunks(t, info[4:])
	for id, want := range map[string]string{
		"ICMT": "synthetic=true", "INAM": "dialogue _7___", "ISRC": "flite 2.2", "ISFT": strings.Repeat("s", 255),
	} {
		if text := strings.TrimRight(string(entries[id]), " \x00"); text != want {
			t.Errorf("%s is %q, want %q", id, text, want)
		}
	}
}

func TestEncodeWAVToAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.wav")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := sine(24000, 3, 440, 0.9)
	if err := EncodeWAV(file, p, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	walk(t, data)
	got := decoded(t, data)
	for i := range p.Samples {
		if math.Abs(float64(got.Samples[i]-p.Samples[i])) > 0.5/(1<<15)+1e-7 {
			t.Fatalf("sample %d is %g, want %g", i, got.Samples[i], p.Samples[i])
		}
	}
}

func TestEncodeWAVWithoutSamples(t *testing.T) {
	if got := walk(t, wavBytes(t, PCM{Rate: 24000})); len(got["fmt "]) != 16 || len(got["data"]) != 0 {
		t.Errorf("chunks %v", got)
	}
	if err := EncodeWAV(&Buffer{}, PCM{}, nil); err == nil {
		t.Error("a rate of 0 was accepted")
	}
}

func TestToInt16(t *testing.T) {
	nan := float32(math.NaN())
	for _, test := range []struct {
		in   float32
		want int
	}{{0, 0}, {1, 32767}, {-1, -32768}, {2, 32767}, {-2, -32768}, {0.5, 16384}, {-0.5, -16384}, {1.6 / 32768, 2}, {-1.6 / 32768, -2}, {nan, 0}} {
		if got := toInt16(test.in); got != test.want {
			t.Errorf("toInt16(%g) = %d, want %d", test.in, got, test.want)
		}
	}
}
