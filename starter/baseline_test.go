package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/sample"
)

// A folder of clips reaches the prosody baseline, each clip under its dialogue's
// id: tones whose pitch follows the truth are told apart.
func TestTrainOnClips(t *testing.T) {
	dataset, err := dialogue.ReadCSV(bytes.NewReader(sample.Training()))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, d := range dataset.Dialogues {
		hertz := 100 + float64(i%20)
		if d.Truth == dialogue.Yes {
			hertz += 100
		}
		writeTone(t, filepath.Join(dir, d.ID+"_tone.wav"), hertz)
	}

	var out, errs bytes.Buffer
	a := &app{out: &out, err: &errs, in: strings.NewReader(""), lookup: func(string) (string, bool) { return "", false }}
	model := filepath.Join(t.TempDir(), "model.json")
	if code := a.run(context.Background(), []string{"baseline", "train", "--clips", dir, "--out", model, "--json"}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var got baseline.Evaluation
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	i := slices.IndexFunc(got.Detectors, func(d baseline.DetectorResult) bool { return d.Name == baseline.Prosody })
	if i < 0 {
		t.Fatalf("no %s among %+v", baseline.Prosody, got.Detectors)
	}
	if d := got.Detectors[i]; d.N != got.Parts.Test || d.AUC < 0.9 {
		t.Errorf("%s: n %d of %d, AUC %.2f; want all, at least 0.90", d.Name, d.N, got.Parts.Test, d.AUC)
	}

	// A clip that is no audio is named.
	broken := filepath.Join(dir, dataset.Dialogues[0].ID+"_tone.wav")
	if err := os.WriteFile(broken, []byte("no audio"), 0o600); err != nil {
		t.Fatal(err)
	}
	errs.Reset()
	if code := a.run(context.Background(), []string{"baseline", "train", "--clips", dir, "--out", model}); code != exitFailed {
		t.Errorf("exit code %d for a broken clip", code)
	}
	if !strings.Contains(errs.String(), broken) {
		t.Errorf("%q does not name %s", errs.String(), broken)
	}
}

// writeTone writes half a second of a tone with two overtones.
func writeTone(t *testing.T, path string, hertz float64) {
	t.Helper()
	const rate = 16000
	tone := audio.PCM{Rate: rate, Samples: make([]float32, rate/2)}
	for i := range tone.Samples {
		phase := 2 * math.Pi * hertz * float64(i) / rate
		tone.Samples[i] = float32(0.2*math.Sin(phase) + 0.1*math.Sin(2*phase) + 0.05*math.Sin(3*phase))
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := audio.EncodeWAV(file, tone, nil); err != nil {
		t.Fatal(err)
	}
}
