package baseline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

// Evaluation is what the baselines achieve on the test part of their dataset:
// dialogues that they were neither trained nor calibrated on, judged by their
// written words. Prosody is judged on the clips there are.
type Evaluation struct {
	Dataset   Dataset          `json:"dataset"`
	Parts     Parts            `json:"parts"`
	Terms     int              `json:"terms"`
	Detectors []DetectorResult `json:"detectors"`
	Tactics   TacticResult     `json:"tactics"`
}

// DetectorResult is one detector's metrics, with its expected calibration error
// (ten bins) before and after calibration.
type DetectorResult struct {
	Name string `json:"name"`
	Metrics
	ECEScore      float64 `json:"ece_score"`
	ECECalibrated float64 `json:"ece_calibrated"`
}

// TacticResult says how often the most probable tactic is among those that a
// manipulative test dialogue names, and how often the most frequent tactic of
// the training part is.
type TacticResult struct {
	N        int           `json:"n"` // manipulative test dialogues that name a tactic
	Hits     int           `json:"hits"`
	Top1     float64       `json:"top1"`
	Prior    tactic.Tactic `json:"prior"`
	PriorHit float64       `json:"prior_top1"`
}

// evaluate judges the test part through the detectors themselves.
func (m *Model) evaluate(ctx context.Context, test []dialogue.Dialogue, clips clipFeatures) (Evaluation, error) {
	result := Evaluation{Dataset: m.data.Dataset, Parts: m.data.Parts, Terms: len(m.data.Words.Terms)}
	judges := map[string]func(context.Context, detect.Item) (judgement, error){
		Cascade: m.judgeWords, Duration: m.judgeLength, Majority: m.judgePrior,
	}
	for _, name := range Names() {
		judgeItem := judges[name]
		if judgeItem == nil {
			continue
		}
		judgements := make([]judgement, len(test))
		var yes []bool
		for i, d := range test {
			var err error
			if judgements[i], err = judgeItem(ctx, detect.Item{ID: d.ID, Modality: detect.Text, Turns: d.Turns}); err != nil {
				return Evaluation{}, err
			}
			yes = append(yes, d.Truth == dialogue.Yes)
		}
		result.Detectors = append(result.Detectors, score(name, judgements, yes))
		if name == Cascade {
			result.Tactics = m.scoreTactics(test, judgements)
		}
	}
	if s := m.data.Prosody; s != nil {
		var judgements []judgement
		var yes []bool
		for _, d := range test {
			if values, ok := clips[d.ID]; ok {
				judgements = append(judgements, judge(s.YesNo.logOdds(s.standard(values)), s.Platt))
				yes = append(yes, d.Truth == dialogue.Yes)
			}
		}
		result.Detectors = append(result.Detectors, score(Prosody, judgements, yes))
	}
	return result, nil
}

// score measures what could be judged; n says how much that is.
func score(name string, judgements []judgement, yes []bool) DetectorResult {
	var scores, calibrated []float64
	var truths []bool
	for i, j := range judgements {
		if j.PYes.Observed {
			scores = append(scores, probability(j.PYes))
			calibrated = append(calibrated, probability(j.Calibrated))
			truths = append(truths, yes[i])
		}
	}
	return DetectorResult{
		Name:          name,
		Metrics:       measure(scores, truths),
		ECEScore:      calibrationError(scores, truths),
		ECECalibrated: calibrationError(calibrated, truths),
	}
}

func (m *Model) scoreTactics(test []dialogue.Dialogue, judgements []judgement) TacticResult {
	result := TacticResult{Prior: topTactic(m.data.TacticShare)}
	priorHits := 0
	for i, d := range test {
		if d.Truth != dialogue.Yes || len(d.Tactics) == 0 {
			continue
		}
		masses := make([]float64, len(judgements[i].Tactics))
		for k, mass := range judgements[i].Tactics {
			masses[k] = probability(mass)
		}
		result.N++
		if slices.Contains(d.Tactics, topTactic(masses)) {
			result.Hits++
		}
		if slices.Contains(d.Tactics, result.Prior) {
			priorHits++
		}
	}
	result.Top1 = ratio(float64(result.Hits), float64(result.N))
	result.PriorHit = ratio(float64(priorHits), float64(result.N))
	return result
}

// String returns the evaluation as a table for people.
func (e Evaluation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "trained on %s: %d dialogues, %d terms; calibrated on %d, tested on %d, held out %d\n",
		e.Dataset.Name, e.Parts.Train, e.Terms, e.Parts.Valid, e.Parts.Test, e.Parts.HeldOut)
	fmt.Fprintf(&b, "%-18s %4s %8s %8s %8s %6s %7s %10s\n", "test part", "n", "accuracy", "balanced", "macro F1", "AUC", "ECE", "calibrated")
	for _, d := range e.Detectors {
		fmt.Fprintf(&b, "%-18s %4d %8.3f %8.3f %8.3f %6.3f %7.3f %10.3f\n",
			d.Name, d.N, d.Accuracy, d.BalancedAccuracy, d.MacroF1, d.AUC, d.ECEScore, d.ECECalibrated)
	}
	fmt.Fprintf(&b, "tactic, first choice among those named: %.3f of %d (always %q: %.3f)\n", e.Tactics.Top1, e.Tactics.N, e.Tactics.Prior, e.Tactics.PriorHit)
	return b.String()
}
