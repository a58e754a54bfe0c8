package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func (a *app) promptsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prompts",
		Short: "See what the detector chat asks",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(a.promptsListCommand(), a.promptsShowCommand())
	return cmd
}

func (a *app) promptsListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the prompt strategies and what each adds to the questions",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			for _, name := range prompt.Names() {
				s, err := prompt.Find(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(table, "%s\t%s\n", name, adds(s))
			}
			return table.Flush()
		},
	}
}

func adds(s prompt.Strategy) string {
	var all []string
	if s.Exemplars > 0 {
		all = append(all, fmt.Sprintf("shows %d solved dialogues before every item", s.Exemplars))
	}
	if s.Definitions {
		all = append(all, "defines the tactics before every item")
	}
	if s.Reasons {
		all = append(all, "asks for thoughts before every decision: one more call a pass")
	}
	if len(all) == 0 {
		return "asks straight away"
	}
	return strings.Join(all, "; ")
}

// promptRequest is what the flags of prompts show ask for.
type promptRequest struct {
	request
	stage, id string
}

func (a *app) promptsShowCommand() *cobra.Command {
	var r promptRequest
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print exactly what would be sent about one dialogue; nothing is asked",
		Long: `Print exactly what would be sent about one dialogue, message by message, with a
line in the place of every recording and of what only a model or a recogniser can
say. Nothing is asked, and neither server nor store is needed. Characters that
could steer a terminal are escaped; --json has the text as it is.

Two things are the server's own: how it joins messages into one text, and the
beginning of the answer that it is given where tactics begin alike.`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			view, err := r.view()
			if err != nil {
				return err
			}
			if r.json {
				encoder := json.NewEncoder(a.out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(view)
			}
			return view.print(a.out)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.strategy, "prompt", "zero-shot", "the prompt strategy, one of "+strings.Join(prompt.Names(), ", "))
	f.StringVar(&r.stage, "stage", string(prompt.Decide), "what is asked, one of "+stageNames())
	f.StringVar(&r.modality, "modality", string(detect.Audio), "what the detector is given: audio, text or asr")
	f.StringVar(&r.optionOrder, "option-order", string(prompt.AB), "which letter stands for YES: ab or ba")
	f.StringVar(&r.dataset, "dataset", "", "CSV (MentalManip's columns) or JSONL; without it the built-in sample")
	f.StringVar(&r.id, "id", "", "the dialogue's id; without it the first that is no exemplar")
	f.StringVar(&r.shown, "exemplars", "", exemplarHelp)
	f.StringVar(&r.rules, "rules", vote.Paper().Name, "vote rules, which say what exemplars show: "+strings.Join(vote.Presets(), " or "))
	f.BoolVar(&r.json, "json", false, "print JSON")
	return cmd
}

func stageNames() string {
	var names []string
	for _, s := range prompt.Stages() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// view renders the prompt. Wrong flags are reported together.
func (r *promptRequest) view() (promptView, error) {
	r.detector = chatDetector
	rules, rulesErr := vote.Preset(r.rules)
	if err := errors.Join(rulesErr, r.checkDetector(), r.checkStage()); err != nil {
		return promptView{}, usageError{err}
	}
	if r.id != "" {
		r.ids = []string{r.id}
	}
	p := plan{}
	p.spec.Rules, p.spec.Detection.Modality = rules, detect.Modality(r.modality)
	p.spec.Dataset.Name = "sample"
	if err := r.readDialogues(&p, dialogue.Unknown); err != nil {
		if len(p.excluded) > 0 && r.id != "" {
			return promptView{}, fmt.Errorf("dialogue %q (%s) is never asked about: take another --id", r.id, p.excluded[0].Reason)
		}
		return promptView{}, err
	}
	return r.render(p)
}

func (r *promptRequest) checkStage() error {
	var errs []error
	if !slices.Contains(prompt.Stages(), prompt.Stage(r.stage)) {
		errs = append(errs, fmt.Errorf("--stage %q: use one of %s", r.stage, stageNames()))
	}
	if !slices.Contains([]detect.Modality{detect.Audio, detect.Text, detect.ASR}, detect.Modality(r.modality)) {
		errs = append(errs, fmt.Errorf("--modality %q: use audio, text or asr", r.modality))
	}
	if err := prompt.Order(r.optionOrder).Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--option-order: %w", err))
	}
	return errors.Join(errs...)
}

// What stands for words that only a call can bring.
const (
	wordsToCome   = "[the recogniser's words]"
	thoughtsFirst = "[what the model wrote at stage reason]"
	tacticToCome  = "[the tactic that the votes decided]"
)

func (r *promptRequest) render(p plan) (promptView, error) {
	strategy, err := prompt.Find(r.strategy)
	if err != nil {
		return promptView{}, err
	}
	target := p.dialogues[0]
	request := prompt.Request{Stage: prompt.Stage(r.stage), Input: prompt.Input(r.modality), Order: prompt.Order(r.optionOrder)}
	for _, e := range p.shown {
		request.Exemplars = append(request.Exemplars, prompt.Exemplar{Exemplar: p.spec.Rules.Shown(e.Exemplar), Turns: e.dialogue.Turns})
	}
	whole := true // nothing is left for a call to bring
	switch request.Input {
	case prompt.Written:
		request.Text = prompt.Lines(target.Turns)
	case prompt.Recognised:
		request.Text, whole = wordsToCome, false
	}
	if strategy.Reasons && (request.Stage == prompt.Decide || request.Stage == prompt.Verbalize) {
		request.Reasoning, whole = thoughtsFirst, false
	}
	if p.spec.Rules.Evidence == vote.EvidenceTactic && (request.Stage == prompt.Quote || request.Stage == prompt.QuoteRetry) {
		request.Tactic, whole = tactic.Tactic(tacticToCome), false
	}
	messages, err := strategy.Render(request)
	if err != nil {
		return promptView{}, usageError{err}
	}
	fingerprint, err := strategy.Fingerprint(request.Order, request.Exemplars)
	if err != nil {
		return promptView{}, err
	}
	view := promptView{
		Strategy: strategy.Name, Wording: prompt.Version, Stage: request.Stage, Modality: request.Input, Order: request.Order,
		Rules: p.spec.Rules.Name, Dataset: p.spec.Dataset.Name, Dialogue: target.ID, Fingerprint: fingerprint,
	}
	for _, e := range request.Exemplars {
		view.Exemplars = append(view.Exemplars, e.Exemplar)
	}
	if whole {
		view.SHA256 = prompt.Hash(messages)
	}
	view.Messages = view.name(messages)
	return view, nil
}
