package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func (a *app) doctorCommand() *cobra.Command {
	r := &request{strategy: "zero-shot", optionOrder: string(prompt.AB)}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that an evaluation needs, here and at the workers",
		Long: `Check everything that an evaluation needs: Temporal and the store from here, then,
as keys and networks are the workers' own, what a worker of each queue finds: its
speech engine and account, its recogniser, its detector's server, its store. Nothing
is spoken; a chat server is asked about a dozen short questions to see what it can do.

Every check is a line with OK, or FIX and what to do. The exit code is 1 where
something is to be fixed.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), r) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.synthesizer, "synthesizer", "flite", "the evaluation's speech engine, as in evaluate")
	f.StringVar(&r.voices, "voices", "", "its voice pool, as in evaluate")
	f.StringVar(&r.detector, "detector", baseline.Cascade, "its detector, as in evaluate")
	f.StringVar(&r.model, "model", "", "the detector's model, as in evaluate")
	f.StringVar(&r.modality, "modality", string(detect.Audio), "what the detector is given, as in evaluate")
	f.StringVar(&r.accelerator, "accelerator", "cpu", "the detect queue's kind of machine")
	f.StringVar(&r.pool, "pool", "baseline", "the detect queue's pool")
	f.StringVar(&r.attributes, "search-attributes", "on", "on, or off where evaluations don't use them")
	f.BoolVar(&r.json, "json", false, "print JSON for scripts")
	return cmd
}

// check is one line of the doctor.
type check struct {
	Where string `json:"where"` // here, or the queue whose worker looked
	evaluation.Finding
}

// checkup collects the doctor's lines.
type checkup struct {
	OK     bool    `json:"ok"`
	Checks []check `json:"checks"`
}

// add adds a check: it is OK with its detail where err is nil.
func (u *checkup) add(where, what, detail string, err error) {
	var e evaluation.Examined
	e.Add(what, detail, err)
	u.addAll(where, e)
}

func (u *checkup) addAll(where string, e evaluation.Examined) {
	for _, f := range e.Findings {
		u.Checks = append(u.Checks, check{where, f})
	}
}

func (u *checkup) failed() int {
	n := 0
	for _, c := range u.Checks {
		if !c.OK {
			n++
		}
	}
	return n
}

func (a *app) doctor(ctx context.Context, r *request) error {
	p, err := r.diagnosisPlan(ctx)
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	u := &checkup{}
	keysFit := checkStore(ctx, cfg, &p, u)
	if c := a.checkTemporal(ctx, cfg, p.spec.SearchAttributes, u); c != nil {
		defer c.Close()
		if keysFit {
			checkWorkers(ctx, c, cfg.Payloads.Keys, p, u)
		}
	}
	failed := u.failed()
	u.OK = failed == 0
	if r.json {
		err = json.NewEncoder(a.out).Encode(u)
	} else {
		a.printCheckup(u)
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d checks need to be fixed", failed, len(u.Checks))
	}
	return err
}

func (a *app) printCheckup(u *checkup) {
	for _, c := range u.Checks {
		verdict := "FIX"
		if c.OK {
			verdict = "OK "
		}
		fmt.Fprintf(a.out, "%s  %s: %s: %s\n", verdict, c.Where, c.What, c.Detail)
	}
}

// diagnosisPlan is the plan of no evaluation: as much of a spec as workers need to
// find their engines, and the detector's model.
func (r *request) diagnosisPlan(ctx context.Context) (plan, error) {
	pool, poolErr := r.voicePool()
	attributes, attributesErr := onOff("--search-attributes", r.attributes)
	var queueErr error
	for _, part := range []string{r.accelerator, r.pool} {
		if part == "" || evaluation.EncodeID(part) != part {
			queueErr = fmt.Errorf("--accelerator and --pool name a queue: %q must be letters, digits, '.', '_' or '-'", part)
		}
	}
	var modalityErr error
	if !slices.Contains([]detect.Modality{detect.Audio, detect.Text, detect.ASR, evaluation.Both}, detect.Modality(r.modality)) {
		modalityErr = fmt.Errorf("--modality %q: use audio, text, asr or both", r.modality)
	}
	if err := errors.Join(poolErr, attributesErr, r.checkDetector(), modalityErr, queueErr); err != nil {
		return plan{}, usageError{err}
	}
	p := plan{spec: evaluation.Spec{
		Speech:           evaluation.Speech{Synthesizer: r.synthesizer, Pool: pool},
		Rules:            vote.Paper(),
		SearchAttributes: attributes,
		Detection: evaluation.Detection{
			Detector:    r.detector,
			Modality:    detect.Modality(r.modality),
			Accelerator: r.accelerator,
			Pool:        r.pool,
		},
	}}
	if r.detector == chatDetector {
		p.spec.Detection.Strategy, p.spec.Detection.OptionOrder = r.strategy, r.optionOrder
	}
	return p, r.readModel(ctx, &p)
}
