package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// change makes the evaluation's spec the new one's. The budget was the old one's and
// is not kept.
func (r *again) change(spec *evaluation.Spec) error {
	spec.ID = r.id
	spec.Dataset.Clips, spec.Dataset.From = true, r.source
	d := &spec.Detection
	was := d.Detector
	d.Detector = cmp.Or(r.detector, d.Detector)
	if d.Detector == chatDetector {
		d.Strategy = cmp.Or(r.strategy, d.Strategy, "zero-shot")
		d.OptionOrder = cmp.Or(r.optionOrder, d.OptionOrder, string(prompt.AB))
	} else {
		if r.strategy != "" || r.optionOrder != "" {
			return fmt.Errorf("--prompt and --option-order are of chat: %s reads no prompt", d.Detector)
		}
		d.Strategy, d.OptionOrder = "", ""
	}
	if (was == chatDetector) != (d.Detector == chatDetector) {
		d.Model, d.ModelName = objectstore.Ref{}, ""
	}
	d.Modality = detect.Modality(cmp.Or(r.modality, string(d.Modality)))
	d.Accelerator, d.Pool = cmp.Or(r.accelerator, d.Accelerator), cmp.Or(r.pool, d.Pool)
	d.Passes = evaluation.PassMode(r.passes)
	if r.given("seed") {
		d.Seed = r.seed
	}
	if r.rules != "" {
		rules, err := vote.Preset(r.rules)
		if err != nil {
			return err
		}
		rules.Votes, rules.TacticDraw = spec.Rules.Votes, spec.Rules.TacticDraw
		spec.Rules = rules
	}
	spec.Rules.Votes = vote.VoteMode(cmp.Or(r.votes, string(spec.Rules.Votes)))
	spec.Rules.TacticDraw = vote.DrawRule(cmp.Or(r.tacticDraw, string(spec.Rules.TacticDraw)))
	spec.Quality.Off = r.quality == "off" || r.quality == "" && spec.Quality.Off
	spec.SearchAttributes = r.attributes == "on" || r.attributes == "" && spec.SearchAttributes
	spec.Limits.Dialogues = cmp.Or(r.dialogues, spec.Limits.Dialogues)
	if r.given("max-failures") {
		spec.Limits.Failures = r.maxFailures
	}
	if r.given("priority") {
		spec.Limits.Priority = r.priority
	}
	prices, budget, err := r.spending.read(r.lookup)
	if err != nil {
		return err
	}
	if prices.Currency != "" {
		spec.Prices = prices
	}
	spec.Budget = budget
	// What evaluate checks of its flags holds of what they are now.
	r.detector, r.strategy, r.optionOrder = d.Detector, d.Strategy, d.OptionOrder
	if err := r.checkDetector(); err != nil {
		return err
	}
	return spec.Validate()
}

// chooseModel reads the model where another is named or needed, and checks that the
// one that is kept can do what the detector does.
func (r *again) chooseModel(ctx context.Context, store archive.Archive, p *plan) error {
	d := p.spec.Detection
	if r.model != "" || d.Detector != chatDetector && d.Model.IsZero() {
		p.spec.Detection.Model = objectstore.Ref{}
		return r.readModel(ctx, p)
	}
	if d.Detector == chatDetector {
		return nil
	}
	file, err := objectstore.Bytes(ctx, store.Store, d.Model)
	if err != nil {
		return fmt.Errorf("read the model of %q: %w", r.source, err)
	}
	model, err := baseline.Load(file)
	if err != nil {
		return err
	}
	if _, err := baseline.New(model, d.Detector); err != nil {
		return fmt.Errorf("the model of %q: %w", r.source, err)
	}
	return nil
}
