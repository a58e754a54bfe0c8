package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// DetectionLifetime bounds one call of a detector; the activity's StartToClose
// is longer.
const DetectionLifetime = 2 * time.Minute

// Wanted is the detector that a question is for.
type Wanted struct {
	Spec      evaluation.Spec
	Order     string          // of the option letters; "" where there are none
	Exemplars objectstore.Ref // zero where prompts show none
	// Anew is true where what a kept detector knows of its server may be old.
	Anew bool
	// Load reads the exemplars, with their clips where the evaluation's are heard.
	Load func(context.Context) ([]Exemplar, error)
}

// Exemplar is a solved dialogue that prompts show.
type Exemplar struct {
	vote.Exemplar
	Turns []dialogue.Turn
	Clip  audio.PCM // empty where nothing is heard
}

// Detectors finds a detector. The error names the ones there are.
type Detectors func(context.Context, Wanted) (detect.Detector, error)

// Detection asks detectors.
type Detection struct {
	Library   *Library
	Once      Once
	Detectors Detectors
	Affinity  string // the worker's own queue beside the shared one; "" for none
}

// CheckTask is an evaluation whose detector is to be checked.
type CheckTask struct {
	Manifest  objectstore.Ref `json:"manifest"`
	Exemplars objectstore.Ref `json:"exemplars,omitzero"` // a stored []evaluation.Exemplar
}

// DetectorCheck is what a detector says about itself.
type DetectorCheck struct {
	Identity     detect.Identity `json:"identity"`
	Swapped      detect.Identity `json:"swapped,omitzero"`
	SharesPrefix bool            `json:"shares_prefix,omitempty"`
	NeedsWords   bool            `json:"needs_words"`
	Seen         objectstore.Ref `json:"seen"`
	Facts        objectstore.Ref `json:"facts,omitzero"`
}

// CheckDetector identifies the evaluation's detector, finds out what it can do
// and refuses what it can't, and stores what it was trained on.
func (d *Detection) CheckDetector(ctx context.Context, task CheckTask) (DetectorCheck, error) {
	check, err := d.check(ctx, task)
	return check, toTemporal(err)
}

func (d *Detection) check(ctx context.Context, task CheckTask) (DetectorCheck, error) {
	m, err := d.Library.Manifest(ctx, task.Manifest)
	if err != nil {
		return DetectorCheck{}, err
	}
	// Who asks afresh wants to see what has changed since an evaluation before.
	anew := m.Spec.Detection.Passes == evaluation.PassesFresh
	detector, err := d.find(ctx, d.wanted(m.Spec, task.Exemplars, false), anew)
	if err != nil {
		return DetectorCheck{}, err
	}
	check := DetectorCheck{NeedsWords: detector.NeedsTranscript()}
	if check.Identity, err = detector.Identity(ctx); err != nil {
		return check, err
	}
	if m.Spec.Detection.OptionOrder == evaluation.OrderBoth {
		swapped, err := d.find(ctx, d.wanted(m.Spec, task.Exemplars, true), anew)
		if err != nil {
			return check, err
		}
		if check.Swapped, err = swapped.Identity(ctx); err != nil {
			return check, err
		}
	}
	if m.Spec.Rules.Votes == vote.VotesAnalytic {
		chooser, err := chooserOf(detector)
		if err != nil {
			return check, err
		}
		if err := chooser.CheckChoose(ctx, m.Spec.Rules.Sampling); err != nil {
			return check, err
		}
	}
	if sharer, ok := detector.(detect.PrefixSharer); ok {
		if check.SharesPrefix, err = sharer.SharesPrefix(ctx); err != nil {
			return check, err
		}
	}
	store := d.Library.Archive.Store
	if prober, ok := detector.(detect.Prober); ok {
		for _, modality := range m.Spec.Detection.Modalities() {
			if err := prober.CheckModality(ctx, modality); err != nil {
				return check, err
			}
		}
		facts, err := prober.Facts(ctx)
		if err != nil {
			return check, err
		}
		if check.Facts, err = objectstore.PutJSON(ctx, store, evaluation.FactsKey(m.Spec.ID), facts, objectstore.PutOptions{}); err != nil {
			return check, err
		}
	}
	check.Seen, err = objectstore.PutJSON(ctx, store, evaluation.SeenKey(m.Spec.ID), detector.Seen(), objectstore.PutOptions{})
	return check, err
}

// find finds a detector, anew where a kept one won't do.
func (d *Detection) find(ctx context.Context, w Wanted, anew bool) (detect.Detector, error) {
	w.Anew = anew
	return d.Detectors(ctx, w)
}

// chooserOf refuses a detector that can't tell what its passes are drawn from.
func chooserOf(detector detect.Detector) (detect.Chooser, error) {
	chooser, ok := detector.(detect.Chooser)
	if !ok {
		return nil, fault.Permanentf("choose", "analytic_impossible", "this detector can't tell the distribution behind its passes: use --votes sampled or early-stop")
	}
	return chooser, nil
}

// wanted names the detector of an evaluation, for the option letters in their
// usual order or exchanged.
func (d *Detection) wanted(spec evaluation.Spec, exemplars objectstore.Ref, swapped bool) Wanted {
	order := spec.Detection.OptionOrder
	if order == evaluation.OrderBoth {
		order = evaluation.OrderStraight
		if swapped {
			order = evaluation.OrderSwapped
		}
	}
	return Wanted{
		Spec: spec, Order: order, Exemplars: exemplars,
		Load: func(ctx context.Context) ([]Exemplar, error) { return d.Library.exemplars(ctx, spec, exemplars) },
	}
}

// exemplars reads the dialogues and the clips of a stored []evaluation.Exemplar.
func (l *Library) exemplars(ctx context.Context, spec evaluation.Spec, ref objectstore.Ref) ([]Exemplar, error) {
	if ref.IsZero() {
		return nil, nil
	}
	shown, err := cached[[]evaluation.Exemplar](ctx, l, ref)
	if err != nil {
		return nil, err
	}
	out := make([]Exemplar, len(shown))
	for i, e := range shown {
		d, err := l.Archive.Dialogue(ctx, spec.Dataset.Lines, e.Item)
		if err != nil {
			return nil, fmt.Errorf("read exemplar: %w", err)
		}
		out[i] = Exemplar{Exemplar: e.Exemplar, Turns: d.Turns}
		if e.Item.Clip.IsZero() {
			continue
		}
		if out[i].Clip, err = readClip(ctx, l.Archive.Store, e.Item.Clip); err != nil {
			return nil, fmt.Errorf("read exemplar %s: %w", e.ID, err)
		}
	}
	return out, nil
}
