package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/workflows"
)

// sensitivityRequest is what the flags of sensitivity ask for.
type sensitivityRequest struct {
	id          string
	items       int
	orders      int // of the exemplars
	verbalizers bool
	seed        uint64
	json        bool
}

func (a *app) sensitivityCommand() *cobra.Command {
	var r sensitivityRequest
	cmd := &cobra.Command{
		Use:   "sensitivity ID",
		Short: "Ask a finished evaluation's decisions again in other words: do the labels depend on them?",
		Long: `Ask a finished evaluation's decisions again in other words: with the option letters
exchanged, with the exemplars in other orders, and for YES or NO in place of the
letters. Every variation changes one thing of the evaluation's own setting, which is
asked again too. Nothing is drawn: the more probable answer counts.

What is asked is stored: the same again costs nothing. Ctrl-C detaches; the same
command comes back to it.`,
		Args: exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.id = args[0]
			return a.sensitivity(cmd.Context(), r)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&r.items, "items", 20, "ask about so many scored dialogues, drawn with the truths in their proportion")
	f.IntVar(&r.orders, "exemplar-orders", 0, "show the exemplars in so many other orders, of strategies that show some")
	f.BoolVar(&r.verbalizers, "verbalizers", false, "ask for YES or NO in place of the letters, of servers that give logprobs")
	f.Uint64Var(&r.seed, "seed", 0, "another seed draws other dialogues and other orders")
	f.BoolVar(&r.json, "json", false, "print JSON")
	return cmd
}

func (r sensitivityRequest) validate() error {
	var errs []error
	errs = append(errs, evaluation.CheckID(r.id))
	if r.items < 1 {
		errs = append(errs, fmt.Errorf("--items is %d, must be at least 1", r.items))
	}
	if r.orders < 0 {
		errs = append(errs, fmt.Errorf("--exemplar-orders is %d, must be at least 0", r.orders))
	}
	if err := errors.Join(errs...); err != nil {
		return usageError{err}
	}
	return nil
}

func (a *app) sensitivity(ctx context.Context, r sensitivityRequest) error {
	if err := r.validate(); err != nil {
		return err
	}
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	chosen, err := r.choose(ctx, store)
	if err != nil {
		return err
	}
	c, err := a.dialToStart(ctx, cfg, store)
	if err != nil {
		return err
	}
	defer c.Close()
	run, err := startSensitivity(ctx, c, store.Store, chosen)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "asking %d questions, those apart that are stored: %s\n", len(chosen.Items)*len(chosen.Variations), webLink(cfg, run.GetID(), run.GetRunID()))
	for _, q := range unserved(ctx, c, chosen.queues()) {
		fmt.Fprintln(a.err, q)
	}
	var result workflows.SensitivityResult
	if err := run.Get(ctx, &result); err != nil {
		if ctx.Err() != nil {
			return errors.New("detached: it goes on, and the same command comes back to it")
		}
		return fmt.Errorf("sensitivity of %q: %s (asked again, it goes on from what is stored)", r.id, rootCause(err))
	}
	report := chosen.report(r, result)
	if r.json {
		encoder := json.NewEncoder(a.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	return report.print(a.out)
}

// startSensitivity stores what to ask and starts asking, or comes back to a
// workflow that asks the same.
func startSensitivity(ctx context.Context, c client.Client, store objectstore.Store, chosen measurement) (client.WorkflowRun, error) {
	ref, err := putHashed(ctx, store, chosen.Sensitivity, evaluation.SensitivityKey)
	if err != nil {
		return nil, err
	}
	input := workflows.SensitivityInput{Sensitivity: ref, Items: len(chosen.Items), DetectQueue: chosen.spec.Detection.Queue()}
	for _, v := range chosen.Variations {
		input.Variations = append(input.Variations, v.Name)
	}
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       evaluation.SensitivityWorkflowID(chosen.Evaluation, ref.SHA256),
		TaskQueue:                evaluation.QueueMain,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            fmt.Sprintf("%d items in %d variations", len(chosen.Items), len(chosen.Variations)),
	}, workflows.Sensitivity, input)
	if err != nil {
		return nil, fmt.Errorf("start the measurement: %w", err)
	}
	return run, nil
}

// putHashed stores a value under its hash.
func putHashed(ctx context.Context, store objectstore.Store, value any, key func(sha256 string) string) (objectstore.Ref, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return objectstore.Ref{}, err
	}
	sum := sha256.Sum256(data)
	return objectstore.PutBytes(ctx, store, key(hex.EncodeToString(sum[:])), data, objectstore.PutOptions{ContentType: objectstore.ContentJSON})
}
