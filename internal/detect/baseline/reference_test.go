package baseline_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

// shared returns a path below the folder of shared data beside the repository,
// or skips: that data can't be part of the project.
func shared(tb testing.TB, path string) string {
	tb.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
	full := filepath.Join(dir, "..", "shared", "data", path)
	if _, err := os.Stat(full); err != nil {
		tb.Skipf("the data set is not here: %v", err)
	}
	return full
}

// mentalManip returns what MentalManip_con is trained on, the human-annotated
// items held out.
func mentalManip(tb testing.TB) baseline.TrainOptions {
	tb.Helper()
	file, err := os.ReadFile(shared(tb, "mentalmanip/mentalmanip_con.csv"))
	if err != nil {
		tb.Fatal(err)
	}
	dataset, err := dialogue.ReadCSV(bytes.NewReader(file))
	if err != nil {
		tb.Fatal(err)
	}
	annotated, err := os.Open(shared(tb, "speechmentalmanip/annotations_audio_compiled.csv"))
	if err != nil {
		tb.Fatal(err)
	}
	defer annotated.Close()
	heldOut, err := baseline.ReadIDs(annotated)
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha256.Sum256(file)
	return baseline.TrainOptions{
		Dialogues:     dataset.Dialogues,
		DatasetName:   "mentalmanip_con.csv",
		DatasetSHA256: hex.EncodeToString(sum[:]),
		HeldOut:       heldOut,
	}
}

// The reference is scikit-learn's pipeline on the same split.
func TestMentalManipReference(t *testing.T) {
	model, evaluation, err := baseline.Train(t.Context(), mentalManip(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes\n%s", len(model.Encode()), evaluation)
	if want := (baseline.Parts{Train: 1943, Valid: 297, Test: 575, HeldOut: 100}); evaluation.Parts != want {
		t.Errorf("parts %+v, want %+v", evaluation.Parts, want)
	}
	near := func(name string, got, want, by float64) {
		if !(math.Abs(got-want) <= by) {
			t.Errorf("%s = %.4f, want %.3f within %.3f", name, got, want, by)
		}
	}
	results := map[string]baseline.DetectorResult{}
	for _, result := range evaluation.Detectors {
		results[result.Name] = result
	}
	cascade, length, majority := results[baseline.Cascade], results[baseline.Duration], results[baseline.Majority]
	near("cascade accuracy", cascade.Accuracy, .730, .01)
	near("cascade AUC", cascade.AUC, .744, .01)
	near("duration accuracy", length.Accuracy, .619, .03) // the reference's measure of length isn't known
	near("duration AUC", length.AUC, .645, .01)
	near("majority accuracy", majority.Accuracy, .710, .001)
	near("majority balanced accuracy", majority.BalancedAccuracy, .5, 0)
	near("majority macro F1", majority.MacroF1, .415, .001)
	near("majority AUC", majority.AUC, .5, 0)
	if cascade.ECECalibrated > .08 || cascade.ECECalibrated >= cascade.ECEScore {
		t.Errorf("calibration error %.3f after, %.3f before", cascade.ECECalibrated, cascade.ECEScore)
	}
	scores, err := newDetector(t, model, baseline.Cascade).ScoreTactics(t.Context(), items()[detect.Text])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("low confidence: %q", scores.LowConfidence)
	for _, role := range []tactic.Tactic{tactic.Servant, tactic.Victim} {
		if !slices.Contains(scores.LowConfidence, string(role)) {
			t.Errorf("low confidence %q lacks %q", scores.LowConfidence, role)
		}
	}
	if evaluation.Tactics.Top1 < .43 || evaluation.Tactics.Top1 <= evaluation.Tactics.PriorHit {
		t.Errorf("tactics: %+v", evaluation.Tactics)
	}
}
