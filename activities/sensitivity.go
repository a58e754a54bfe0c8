package activities

import (
	"context"
	"errors"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// VariantTask is one item in one variation, by their places in a stored
// evaluation.Sensitivity.
type VariantTask struct {
	Sensitivity objectstore.Ref `json:"sensitivity"`
	Variation   int             `json:"variation"`
	Item        int             `json:"item"`
}

// VariantResult is the answer, and whether it was asked for now.
type VariantResult struct {
	evaluation.Variant
	Made bool `json:"made"`
}

// AskVariant asks for a decision in another way than the evaluation did, or reads
// it where it is stored.
func (d *Detection) AskVariant(ctx context.Context, task VariantTask) (VariantResult, error) {
	result, err := d.variant(ctx, task)
	return result, toTemporal(err)
}

func (d *Detection) variant(ctx context.Context, task VariantTask) (VariantResult, error) {
	all, err := cached[evaluation.Sensitivity](ctx, d.Library, task.Sensitivity)
	if err != nil {
		return VariantResult{}, err
	}
	if task.Variation >= len(all.Variations) || task.Item >= len(all.Items) {
		return VariantResult{}, fault.Permanentf("ask a variant", "bad_input", "there is no variation %d of item %d", task.Variation, task.Item)
	}
	variation, item := all.Variations[task.Variation], all.Items[task.Item]
	job, err := d.Library.Open(ctx, evaluation.Task{Evaluation: all.Evaluation, Manifest: all.Manifest, Engines: all.Engines, Item: item.Item})
	if err != nil {
		return VariantResult{}, err
	}
	base := job
	job.Spec.Detection.OptionOrder, job.Engines.Exemplars = variation.Order, variation.Exemplars
	judge := JudgeTask{Task: job.Task, Clip: item.Clip, Transcript: item.Transcript, Modality: all.Modality}
	question, err := d.question(ctx, job, judge)
	if err != nil {
		return VariantResult{}, err
	}
	ref, made, err := d.Once.Do(ctx, evaluation.VariantKey(question, variation), DetectionLifetime, func(ctx context.Context) (Object, error) {
		detector, err := d.varied(ctx, base, job)
		if err != nil {
			return Object{}, err
		}
		item, err := d.item(ctx, job, judge)
		if err != nil {
			return Object{}, err
		}
		answer, err := askVariant(ctx, detector, item, variation.Words)
		if err != nil {
			return Object{}, err
		}
		return jsonObject(evaluation.StoredVariant{Question: question, Order: variation.Order, Words: variation.Words, Variant: answer})
	})
	if err != nil {
		return VariantResult{}, err
	}
	stored, err := objectstore.GetJSON[evaluation.StoredVariant](ctx, d.Library.Archive.Store, ref)
	return VariantResult{Variant: stored.Variant, Made: made}, err
}

// varied returns the detector of a variation. What judged the evaluation must
// still be what answers: else the variations would not be what differs.
func (d *Detection) varied(ctx context.Context, base, varied Job) (detect.Detector, error) {
	own, err := d.Detectors(ctx, d.wanted(base.Spec, base.Engines.Exemplars, false))
	if err != nil {
		return nil, err
	}
	if err := sameDetector(ctx, own, base.Engines.Detector); err != nil {
		return nil, err
	}
	return d.Detectors(ctx, d.wanted(varied.Spec, varied.Engines.Exemplars, false))
}

// verbalizer is a detector that can be asked for its decision in words.
type verbalizer interface {
	Verbalize(ctx context.Context, item detect.Item) (detect.Decision, error)
}

// Sampling that leaves the answers' distribution as it is, and that takes the most
// probable answer.
var (
	unchanged = vote.Sampling{Temperature: 1, TopP: 1}
	greedy    = vote.Sampling{Temperature: 0, TopP: 1}
)

// askVariant decides without drawing: by the distribution that passes are drawn
// from where the detector can tell it, else by the most probable answer.
func askVariant(ctx context.Context, detector detect.Detector, item detect.Item, words bool) (evaluation.Variant, error) {
	if words {
		v, ok := detector.(verbalizer)
		if !ok {
			return evaluation.Variant{}, fault.Permanentf("ask a variant", "no_words", "this detector can't be asked in words: leave --verbalizers out")
		}
		decision, err := v.Verbalize(ctx, item)
		return evaluation.Variant{Vote: decision.Vote, PYes: decision.PYes, Method: "words"}, err
	}
	if chooser, ok := detector.(detect.Chooser); ok {
		var choice detect.Choice
		err := chooser.CheckChoose(ctx, unchanged)
		if err == nil {
			choice, err = chooser.Choose(ctx, item, unchanged)
		}
		// Any other error is not a reason to answer by another method, and to store that.
		if !impossible(err) {
			return evaluation.Variant{Vote: moreProbable(choice.Yes), PYes: vote.Mass{P: choice.Yes, Observed: true}, Method: "analytic"}, err
		}
	}
	decision, err := detector.Decide(ctx, item, detect.Pass{Sampling: greedy})
	return evaluation.Variant{Vote: decision.Vote, PYes: decision.PYes, Method: "greedy"}, err
}

// impossible reports whether a distribution can't be known, be it of this item only.
func impossible(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.Permanent && f.Code == "analytic_impossible"
}

func moreProbable(yes vote.Nano) vote.Vote {
	switch {
	case 2*yes > vote.One:
		return vote.VoteYes
	case 2*yes < vote.One:
		return vote.VoteNo
	}
	return vote.VoteInvalid
}
