package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// again is what the flags of reevaluate ask for: a flag that is not given keeps what
// the evaluation had.
type again struct {
	request
	source string
	given  func(flag string) bool
}

func (a *app) reevaluateCommand() *cobra.Command {
	r := &again{request: request{lookup: a.lookup}}
	cmd := &cobra.Command{
		Use:   "reevaluate ID",
		Short: "Judge an evaluation's clips again: afresh, or by another detector, prompt or rules",
		Long: `Judge an evaluation's clips again, afresh, or by another detector, prompt or rules. The
clips are those that are stored, nothing is synthesised; dialogues without one are left
out by name. All flags but --passes keep what the evaluation had where they are not given.

"starter compare ID NEW" says what changed.`,
		Args: exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.source, r.given = args[0], cmd.Flags().Changed
			return a.reevaluate(cmd.Context(), r)
		},
	}
	r.register(cmd)
	return cmd
}

// register is flags without what can't change, and with other defaults.
func (r *again) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.detector, "detector", "", "one of "+strings.Join(detectorNames(), ", "))
	f.StringVar(&r.model, "model", "", "of a baseline: its model file; of chat: the model's name on the server")
	f.StringVar(&r.strategy, "prompt", "", "of chat: the prompt strategy, one of "+strings.Join(prompt.Names(), ", ")+"; the exemplars are the evaluation's")
	f.StringVar(&r.optionOrder, "option-order", "", "of chat: which letter stands for YES: ab, ba, or both one after the other")
	f.StringVar(&r.modality, "modality", "", "what the detector is given: audio, text, asr, or both audio and text of each dialogue")
	f.StringVar(&r.accelerator, "accelerator", "", "the detect queue's kind of machine")
	f.StringVar(&r.pool, "pool", "", "the detect queue's pool")
	f.StringVar(&r.rules, "rules", "", "vote rules: "+strings.Join(vote.Presets(), " or "))
	f.StringVar(&r.votes, "votes", "", "the calls that the votes take: sampled, early-stop or analytic")
	f.StringVar(&r.tacticDraw, "tactic-draw", "", "how a tactic pass finds its option: score or sample")
	f.StringVar(&r.passes, "passes", string(evaluation.PassesFresh), "ask afresh, or reuse stored passes: fresh or reuse")
	f.Uint64Var(&r.seed, "seed", 0, "every pass's own seed derives from it")
	f.StringVar(&r.quality, "quality", "", "on, or off to recognise and measure clips only where the detector reads their words")
	r.spending.flags(f)
	f.IntVar(&r.dialogues, "dialogues", 0, "dialogues at once in a chunk")
	f.IntVar(&r.maxFailures, "max-failures", 0, "pause when so many dialogues have failed; 0 is any number")
	f.IntVar(&r.priority, "priority", 0, "1 (first) to 5 among what waits on the same queues")
	f.StringVar(&r.attributes, "search-attributes", "", "on, or off where the namespace doesn't have them")
	f.StringVar(&r.id, "id", "", "the new evaluation's id; without it one is made up")
	f.StringVar(&r.out, "out", "reports", "folder for the report's files")
	f.BoolVar(&r.detach, "detach", false, "start it and return")
	f.BoolVar(&r.json, "json", false, "print JSON for scripts, progress to stderr")
}

func (a *app) reevaluate(ctx context.Context, r *again) error {
	if r.id == "" {
		r.id = newID(time.Now())
	}
	if err := r.check(); err != nil {
		return usageError{err}
	}
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	source, err := readSource(ctx, store, r.source)
	if err != nil {
		return err
	}
	p, items, err := r.plan(ctx, store, source)
	if err != nil {
		return err
	}
	c, err := a.dialToStart(ctx, cfg, store)
	if err != nil {
		return err
	}
	defer c.Close()

	p.spec.Private = len(cfg.Payloads.Keys) > 0
	if p.model != nil {
		if p.spec.Detection.Model, err = store.PutModel(ctx, p.model); err != nil {
			return err
		}
	}
	manifest, ref, err := a.create(ctx, c, store, p, items, source.exemplarsOf(p))
	if err != nil {
		return err
	}
	return a.launch(ctx, cfg, c, store, r.follow(), p, manifest, ref)
}

// check refuses what no evaluation could make right, before anything is contacted.
func (r *again) check() error {
	errs := []error{evaluation.CheckID(r.source), evaluation.CheckID(r.id)}
	if r.rules != "" {
		_, err := vote.Preset(r.rules)
		errs = append(errs, err)
	}
	if r.detector != "" && !slices.Contains(detectorNames(), r.detector) {
		errs = append(errs, fmt.Errorf("--detector %q: use one of %s", r.detector, strings.Join(detectorNames(), ", ")))
	}
	if r.strategy != "" {
		_, err := prompt.Find(r.strategy)
		errs = append(errs, err)
	}
	if r.quality != "" {
		_, err := onOff("--quality", r.quality)
		errs = append(errs, err)
	}
	if r.attributes != "" {
		_, err := onOff("--search-attributes", r.attributes)
		errs = append(errs, err)
	}
	if r.modality != "" && !slices.Contains([]detect.Modality{detect.Audio, detect.Text, detect.ASR, evaluation.Both}, detect.Modality(r.modality)) {
		errs = append(errs, fmt.Errorf("--modality %q: use audio, text, asr or both", r.modality))
	}
	if r.passes != string(evaluation.PassesFresh) && r.passes != string(evaluation.PassesReuse) {
		errs = append(errs, fmt.Errorf("--passes %q: use fresh or reuse", r.passes))
	}
	_, _, err := r.spending.read(r.lookup)
	return errors.Join(append(errs, err)...)
}

// plan is the new evaluation, and its items.
func (r *again) plan(ctx context.Context, store archive.Archive, source source) (plan, []evaluation.Item, error) {
	p := plan{spec: source.Manifest.Spec}
	if err := r.change(&p.spec); err != nil {
		return p, nil, usageError{err}
	}
	if err := r.chooseModel(ctx, store, &p); err != nil {
		return p, nil, err
	}
	if err := source.show(&p); err != nil {
		return p, nil, err
	}
	kept, leftOut := evaluation.Again(source.Items, source.Records, p.spec.Heard())
	once := slices.Clone(kept)
	seen := map[string]bool{}
	once = slices.DeleteFunc(once, func(item evaluation.Item) bool {
		before := seen[item.ID]
		seen[item.ID] = true
		return before // in another casting
	})
	dialogues, err := store.Dialogues(ctx, p.spec.Dataset.Lines, once)
	if err != nil {
		return p, nil, err
	}
	p.excluded = append(slices.Clone(source.Manifest.Exemplars), leftOut...)
	if err := p.leaveOutExemplars(dialogues, dialogues); err != nil {
		return p, nil, err
	}
	if len(p.dialogues) == 0 {
		return p, nil, fmt.Errorf("nothing to judge again: all %d dialogues of %q are left out, e.g. %q: %s", len(source.Items), r.source, p.excluded[len(p.excluded)-1].ID, p.excluded[len(p.excluded)-1].Reason)
	}
	for _, e := range leftOut {
		p.notes = append(p.notes, fmt.Sprintf("left out: %q%s, %s", e.ID, evaluation.CastingLabel(e.CastingNumber), e.Reason))
	}
	judged := map[string]bool{}
	for _, d := range p.dialogues {
		judged[d.ID] = true
	}
	items := slices.DeleteFunc(kept, func(item evaluation.Item) bool { return !judged[item.ID] })
	return p, items, nil
}
