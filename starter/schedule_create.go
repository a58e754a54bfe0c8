package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/compare"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/trend"
	"github.com/speechmanip/speechmanip/workflows"
)

// minCatchUp is Temporal's own: what is shorter counts as this.
const minCatchUp = 10 * time.Second

// scheduleRequest is what the flags of schedule create ask for.
type scheduleRequest struct {
	id, baseline   string
	times          times
	overlap        string
	catchUp        time.Duration
	pauseOnFailure bool
	regressions    []string
	canary         int
	shift          float64
	webhook, note  string
	paused, json   bool

	spec   client.ScheduleSpec
	policy enumspb.ScheduleOverlapPolicy
	limits []evaluation.LossLimit
}

func (a *app) scheduleCreateCommand() *cobra.Command {
	r := &scheduleRequest{}
	cmd := &cobra.Command{
		Use:   "create ID --baseline EVALUATION",
		Short: "Judge a finished evaluation's clips again at given times, afresh",
		Long: `Judge a finished evaluation's clips again at given times: by the same detector, rules and
prompt, with fresh passes; nothing is synthesised. Each firing is an evaluation of its
own, compared with the baseline and with the firing before. To watch another detector,
make a baseline of it first: "starter reevaluate".`,
		Args: exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.id = args[0]
			if err := r.validate(); err != nil {
				return usageError{err}
			}
			return a.createSchedule(cmd.Context(), r)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.baseline, "baseline", "", "the finished evaluation whose clips are judged again and compared with")
	r.times.flags(cmd)
	f.StringVar(&r.overlap, "overlap", "skip", "what happens to a firing while the one before still runs: "+overlapHelp())
	f.DurationVar(&r.catchUp, "catch-up", time.Hour, "a firing that Temporal can't start within so long after its time is missed")
	f.BoolVar(&r.pauseOnFailure, "pause-on-failure", true, "let it fire no more after a firing that failed; a regression is no failure")
	f.StringArrayVar(&r.regressions, "regression", []string{"balanced_accuracy:0"}, "METRIC:DELTA: what may be lost, as of compare --fail-on-regression; may be given several times")
	f.IntVar(&r.canary, "canary", 8, "judge so many of the baseline's clips first and compare the answers themselves; 0 is none")
	f.Float64Var(&r.shift, "canary-shift", 0.02, "the model has changed where the canary's probabilities of YES have moved by more on average")
	f.StringVar(&r.webhook, "webhook", "", "the workers' name of a webhook to call when something is lost or the model has changed")
	f.StringVar(&r.note, "note", "", "for whoever looks at it")
	f.BoolVar(&r.paused, "paused", false, "let it fire only when told to: schedule trigger, or schedule resume")
	f.BoolVar(&r.json, "json", false, "print JSON for scripts")
	return cmd
}

// validate reads the flags; the error names everything that is wrong.
func (r *scheduleRequest) validate() error {
	errs := []error{evaluation.CheckScheduleID(r.id)}
	if r.baseline == "" {
		errs = append(errs, errors.New("--baseline is missing: name a finished evaluation"))
	} else if err := evaluation.CheckID(r.baseline); err != nil {
		errs = append(errs, fmt.Errorf("--baseline: %w", err))
	}
	var err error
	if r.spec, err = r.times.spec(); err != nil {
		errs = append(errs, err)
	}
	if r.policy, err = parseOverlap(r.overlap); err != nil {
		errs = append(errs, err)
	}
	if r.catchUp < minCatchUp {
		errs = append(errs, fmt.Errorf("--catch-up is %s, must be at least %s", r.catchUp, minCatchUp))
	}
	r.limits = nil
	for _, text := range r.regressions {
		limit, err := compare.ParseLimit(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--regression: %w", err))
		}
		r.limits = append(r.limits, evaluation.LossLimit(limit))
	}
	if r.canary < 0 || r.canary > evaluation.MaxCanary {
		errs = append(errs, fmt.Errorf("--canary is %d, must be from 0 to %d", r.canary, evaluation.MaxCanary))
	}
	if !(r.shift > 0 && r.shift < 1) { // so that NaN fails too
		errs = append(errs, fmt.Errorf("--canary-shift is %v, must be between 0 and 1", r.shift))
	}
	if r.webhook != "" {
		if err := config.CheckWebhookName(r.webhook); err != nil {
			errs = append(errs, fmt.Errorf("--webhook: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (a *app) createSchedule(ctx context.Context, r *scheduleRequest) error {
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	schedule, spec, err := r.schedule(ctx, store)
	if err != nil {
		return err
	}
	c, err := a.dialToStart(ctx, cfg, store)
	if err != nil {
		return err
	}
	defer c.Close()
	if spec.SearchAttributes {
		missing, err := missingAttributes(ctx, c, cfg.Temporal.Namespace)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return fmt.Errorf("namespace %q lacks the search attributes %s: run `starter setup`", cfg.Temporal.Namespace, strings.Join(missing, ", "))
		}
	}
	if err := r.create(ctx, c, store, schedule, spec, len(cfg.Payloads.Keys) > 0); err != nil {
		return err
	}
	if r.json {
		return json.NewEncoder(a.out).Encode(schedule)
	}
	fmt.Fprintf(a.out, "schedule %s: judges the clips of %s again, %d of them first as a canary\n", r.id, r.baseline, len(schedule.Canary))
	fmt.Fprintf(a.out, "next:     starter schedule describe %s\n          starter trend %[1]s\n", r.id)
	return nil
}

// schedule is what is stored of the schedule, and the baseline's spec.
func (r *scheduleRequest) schedule(ctx context.Context, store archive.Archive) (evaluation.Schedule, evaluation.Spec, error) {
	out := evaluation.Schedule{ID: r.id, Created: time.Now().UTC(), Baseline: r.baseline, Limits: r.limits, Webhook: r.webhook}
	source, err := store.Source(ctx, r.baseline)
	if err != nil {
		return out, evaluation.Spec{}, unknown(r.baseline, err)
	}
	spec := source.Manifest.Spec
	built, err := store.Report(ctx, r.baseline)
	if err != nil {
		return out, spec, err
	}
	if err := r.checkBaseline(built); err != nil {
		return out, spec, err
	}
	if r.canary > 0 {
		out.Shift = r.shift
		if out.Canary = trend.ChooseCanary(spec, source.Items, source.Records, r.canary); len(out.Canary) == 0 {
			return out, spec, fmt.Errorf("no dialogue of %q has a clip and an answer to compare with: use --canary 0", r.baseline)
		}
	}
	return out, spec, nil
}

// checkBaseline refuses a baseline with which a limit could never be checked.
func (r *scheduleRequest) checkBaseline(built report.Report) error {
	if built.Pending > 0 {
		return fmt.Errorf("evaluation %q is not finished: %d of %d dialogues have no record yet", r.baseline, built.Pending, built.Items)
	}
	truths := map[dialogue.Truth]int{}
	for _, d := range built.Dialogues {
		if !d.Seen {
			truths[d.Truth]++
		}
	}
	for _, limit := range r.limits {
		for _, truth := range []dialogue.Truth{dialogue.Yes, dialogue.No} {
			needs := limit.Metric == score.MetricBalancedAccuracy || limit.Metric == score.MetricRecall && truth == dialogue.Yes || limit.Metric == score.MetricSpecificity && truth == dialogue.No
			if needs && truths[truth] == 0 {
				return fmt.Errorf("%s of %q can't be checked: no unseen dialogue has truth %s; name another --regression", limit.Metric, r.baseline, truth)
			}
		}
		if truths[dialogue.Yes]+truths[dialogue.No] == 0 {
			return fmt.Errorf("%s of %q can't be checked: no unseen dialogue has a truth", limit.Metric, r.baseline)
		}
	}
	return nil
}

// create stores the schedule and gives it to Temporal. Where Temporal refuses it the
// id stays free.
func (r *scheduleRequest) create(ctx context.Context, c client.Client, store archive.Archive, schedule evaluation.Schedule, spec evaluation.Spec, private bool) error {
	ref, err := store.PutSchedule(ctx, schedule)
	if errors.Is(err, archive.ErrScheduleUsed) {
		return fmt.Errorf("schedule id %q is used, or was: use another (`starter trend %[1]s` shows what it found)", r.id)
	}
	if err != nil {
		return err
	}
	input := workflows.ScheduledInput{
		Schedule: r.id, Stored: ref, Canary: len(schedule.Canary) > 0, Webhook: r.webhook,
		Attributes: spec.SearchAttributes, Private: private || spec.Private,
	}
	action := &client.ScheduleWorkflowAction{
		ID:            evaluation.FiringWorkflowID(r.id),
		Workflow:      workflows.ScheduledEvaluation,
		Args:          []any{input},
		TaskQueue:     evaluation.QueueMain,
		Priority:      temporal.Priority{PriorityKey: spec.Limits.Priority, FairnessKey: r.id},
		StaticSummary: fmt.Sprintf("schedule %s judges %s again", r.id, r.baseline),
	}
	if spec.SearchAttributes {
		attributes := spec.Attributes()
		delete(attributes, evaluation.AttributeEvaluation) // every firing has its own
		action.TypedSearchAttributes = typed(attributes)
	}
	_, err = c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: r.id, Spec: r.spec, Action: action,
		Overlap: r.policy, CatchupWindow: r.catchUp, PauseOnFailure: r.pauseOnFailure,
		Note: r.note, Paused: r.paused,
	})
	var refused *serviceerror.InvalidArgument
	if errors.As(err, &refused) {
		err = errors.Join(scheduleError(r.id, err), store.Store.Delete(ctx, ref.Key))
	} else if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		err = fmt.Errorf("schedule %q is in Temporal already, made by something else: use another id", r.id)
	}
	return err
}
