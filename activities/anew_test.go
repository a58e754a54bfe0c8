package activities

import (
	"context"
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// known is a detector as a worker knows it, before its server was changed or after.
type known struct {
	*detector
	identity detect.Identity
}

func (k known) Identity(context.Context) (detect.Identity, error) { return k.identity, nil }

// Who asks afresh finds a changed server at the beginning, and goes on with it on a
// worker that knew the one before; who reuses answers takes what the worker knows.
func TestDetectorIsKnownAnew(t *testing.T) {
	for mode, want := range map[evaluation.PassMode]string{evaluation.PassesReuse: "f", evaluation.PassesFresh: "changed"} {
		f := newFixture(t, func(s *evaluation.Spec) { s.Detection.Passes = mode })
		f.detection.Detectors = func(_ context.Context, w Wanted) (detect.Detector, error) {
			identity := standIn
			if w.Anew {
				identity.Fingerprint = "changed"
			}
			return known{f.detector, identity}, nil
		}
		check := must[DetectorCheck](t, f.detection.CheckDetector, CheckTask{Manifest: f.task.Manifest})
		if check.Identity.Fingerprint != want {
			t.Errorf("%s: began with %+v", mode, check.Identity)
		}
		f.task.Engines = f.saveEngines(t, evaluation.Engines{Detector: check.Identity})
		pass := must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: JudgeTask{Task: f.task, Modality: detect.Text}})
		if pass.Pass.Vote == "" {
			t.Errorf("%s: %+v", mode, pass)
		}
	}
}
