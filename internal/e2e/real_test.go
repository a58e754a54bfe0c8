//go:build integration && linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRealData runs the documented commands on MentalManip and on the paper's
// clips, with a model trained there; both are test input only.
func TestRealData(t *testing.T) {
	t.Parallel() // it waits more than it works
	dataset := shared(t, "mentalmanip/mentalmanip_con.csv")
	clips := shared(t, "speechmentalmanip/clips")
	annotated := shared(t, "speechmentalmanip/annotations_text_compiled.csv")
	r := newRig(t)
	r.worker(t)
	model := filepath.Join(r.dir, "model.json")
	t.Log("\n" + r.starter(t, "baseline", "train", "--dataset", dataset, "--held-out", annotated, "--out", model))

	t.Run("twenty dialogues", func(t *testing.T) {
		built := r.evaluate(t, "--dataset", dataset, "--limit", "20", "--model", model, "--id", "con20")
		if got := built.N + len(built.Seen.IDs) + len(built.Exemplars); got != 20 || len(built.Failures) != 0 || built.Pending != 0 {
			t.Errorf("n %d, seen %d, exemplars %d, failures %v", built.N, len(built.Seen.IDs), len(built.Exemplars), built.Failures)
		}
		t.Log("\n" + r.starter(t, "report", "con20"))
	})
	t.Run("the paper's clips", func(t *testing.T) {
		built := r.evaluate(t, "--dataset", dataset, "--clips", clips, "--model", model, "--id", "clips24")
		if built.N != 20 || len(built.Failures) != 0 {
			t.Errorf("n %d, failures %v", built.N, built.Failures)
		}
		if len(built.Seen.IDs) != 0 {
			t.Errorf("held-out clips count as seen: %v", built.Seen.IDs)
		}
		if u := built.Usage; u.TurnsMade+u.ClipsMade != 0 || u.Recognized != built.N {
			t.Errorf("usage %+v", u)
		}
		heard := shared(t, "speechmentalmanip/annotations_audio_compiled.csv")
		beside := []string{"report", "clips24", "--annotations", annotated, "--annotations", heard, "--truth", "audio-consensus=" + heard, "--prevalence", "250:90"}
		with := decode(t, r.starter(t, append(beside, "--format", "json")...))
		if len(with.People) != 2 || with.People[1].Scored != built.Classification.Decided || with.People[1].Annotated != with.People[1].Scored {
			t.Errorf("people: %+v", with.People)
		}
		if len(with.Truths) != 1 || with.Truths[0].Common != 20 || len(with.Truths[0].Disagreements) != 9 {
			t.Errorf("truths: %+v", with.Truths)
		}
		if len(with.AtPrevalence) != 2 || with.AtPrevalence[1].Prevalence.Stated != "250:90" {
			t.Errorf("at prevalence: %+v", with.AtPrevalence)
		}
		if tables := r.starter(t, append(beside, "--format", "markdown")...); !strings.Contains(tables, "| audio, YES | 28 | 22 | .56 | .12 |") {
			t.Errorf("the paper's Table 6 is not among the tables:\n%s", tables)
		}
		t.Log("\n" + r.starter(t, beside...))
	})
}
