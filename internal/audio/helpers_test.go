package audio

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// tool returns the path of a program used to check results against, or skips the test.
func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed: nothing to compare with", name)
	}
	return path
}

// shared returns a path beneath the folder of shared data beside the repository, or skips.
func shared(t testing.TB, path string) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod above the test")
		}
		root = filepath.Dir(root)
	}
	found := filepath.Join(root, "..", "shared", path)
	if _, err := os.Stat(found); err != nil {
		t.Skipf("shared data is absent: %v", err)
	}
	return found
}

func output(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(tool(t, name), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, errs.Bytes())
	}
	return out.Bytes()
}

// ffmpegLevel measures a file with ffmpeg's ebur128 filter: LUFS and dBTP.
func ffmpegLevel(t testing.TB, path string) (lufs, peak float64) {
	t.Helper()
	out := output(t, "ffmpeg", "-v", "error", "-i", path,
		"-af", "ebur128=peak=true:metadata=1,ametadata=print:file=-", "-f", "null", "-")
	last := func(key string) float64 {
		all := regexp.MustCompile(`lavfi\.r128\.`+key+`=(\S+)`).FindAllSubmatch(out, -1)
		if len(all) == 0 {
			t.Fatalf("ffmpeg reported no %s for %s", key, path)
		}
		v, err := strconv.ParseFloat(string(all[len(all)-1][1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return last("I"), 20 * math.Log10(last("true_peak"))
}

// flite speaks text to a 16 kHz WAV and returns its path.
func flite(t testing.TB, voice, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), voice+".wav")
	output(t, "flite", "-voice", voice, "-t", text, "-o", path)
	return path
}

func wavFile(t testing.TB, p PCM) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.wav")
	if err := os.WriteFile(path, wavBytes(t, p), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func wavBytes(t testing.TB, p PCM) []byte {
	t.Helper()
	var b Buffer
	if err := EncodeWAV(&b, p, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sine(rate int, seconds, hz, amplitude float64) PCM {
	p := PCM{Rate: rate, Samples: make([]float32, int(seconds*float64(rate)))}
	for i := range p.Samples {
		p.Samples[i] = float32(amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return p
}

// syllables is noise in bursts of 150 ms with pauses of 50 ms: the shape of speech.
func syllables(rate int, seconds, amplitude float64, seed uint64) PCM {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := PCM{Rate: rate, Samples: make([]float32, int(seconds*float64(rate)))}
	smooth := 0.0
	for i := range p.Samples {
		smooth = 0.7*smooth + 0.3*(2*rng.Float64()-1)
		in := math.Mod(float64(i)/float64(rate), 0.2) / 0.15
		if in < 1 {
			p.Samples[i] = float32(amplitude * smooth * math.Sin(math.Pi*in))
		}
	}
	return p
}

func join(parts ...PCM) PCM {
	all := PCM{Rate: parts[0].Rate}
	for _, p := range parts {
		all.Samples = append(all.Samples, p.Samples...)
	}
	return all
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.4f, want %.4f within %g", what, got, want, tolerance)
	}
}
