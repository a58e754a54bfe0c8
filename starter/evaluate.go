package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/workflows"
)

func (a *app) evaluateCommand() *cobra.Command {
	r := &request{lookup: a.lookup}
	cmd := &cobra.Command{
		Use:   "evaluate",
		Short: "Evaluate dialogues: speak, compose, judge, vote, score, report",
		Long: `Evaluate dialogues: every turn is spoken by its speaker's voice, the turns are
composed into a clip, the detector makes its passes on the clip, the passes vote,
and a report scores the verdicts against the dataset's truth.

Ctrl-C detaches: the evaluation goes on, and "starter watch ID" comes back to it.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.evaluate(cmd.Context(), r) },
	}
	r.flags(cmd)
	return cmd
}

// started is a running evaluation, and the JSON that --json --detach prints.
type started struct {
	Evaluation string `json:"evaluation"`
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
	Items      int    `json:"dialogues"`
	Web        string `json:"web"`
}

func (a *app) evaluate(ctx context.Context, r *request) error {
	p, err := r.plan(ctx)
	if err != nil {
		return err
	}
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	c, err := a.dialToStart(ctx, cfg, store)
	if err != nil {
		return err
	}
	defer c.Close()

	p.spec.Private = len(cfg.Payloads.Keys) > 0
	manifest, ref, err := a.store(ctx, c, store, p)
	if err != nil {
		return err
	}
	return a.launch(ctx, cfg, c, store, r.follow(), p, manifest, ref)
}

// following is what the operator sees of an evaluation that was just stored.
type following struct {
	detach, json bool
	out          string // folder for the report's files
}

func (r *request) follow() following { return following{r.detach, r.json, r.out} }

// launch starts a stored evaluation and, unless detached, follows it to its end.
func (a *app) launch(ctx context.Context, cfg config.Config, c client.Client, store archive.Archive, how following, p plan, manifest evaluation.Manifest, ref objectstore.Ref) error {
	run, err := start(ctx, c, manifest, ref)
	if err != nil {
		return err
	}
	s := started{
		Evaluation: manifest.Spec.ID,
		WorkflowID: run.GetID(),
		RunID:      run.GetRunID(),
		Items:      manifest.Items,
		Web:        webLink(cfg, run.GetID(), run.GetRunID()),
	}
	a.announce(how, p, s)
	for _, q := range unserved(ctx, c, queuesOf(manifest.Spec)) {
		fmt.Fprintln(a.err, q)
	}
	if how.detach {
		if how.json {
			return json.NewEncoder(a.out).Encode(s)
		}
		fmt.Fprintf(a.out, "started; come back with: starter watch %s\n", s.Evaluation)
		return nil
	}
	return a.follow(ctx, cfg, c, store, s.Evaluation, followOptions{json: how.json, out: how.out})
}

func (a *app) announce(how following, p plan, s started) {
	for _, note := range p.notes {
		fmt.Fprintln(a.err, "note:", note)
	}
	out := a.out
	if how.json {
		out = a.err
	}
	fmt.Fprintf(out, "evaluation %s: %s of %s by %s\n", s.Evaluation, p.spec.Counted(s.Items), p.spec.Dataset.Name, p.spec.Detection.Detector)
	if len(p.excluded) > 0 {
		fmt.Fprintf(out, "%d dialogues left out: the report names them\n", len(p.excluded))
	}
	fmt.Fprintf(out, "watch it: %s\n", s.Web)
}

// store puts everything the evaluation needs into the store; the manifest last.
func (a *app) store(ctx context.Context, c client.Client, to archive.Archive, p plan) (evaluation.Manifest, objectstore.Ref, error) {
	stored := p.dialogues
	for _, e := range p.shown { // after the items: their places stay as they are
		stored = append(slices.Clip(stored), e.dialogue)
	}
	lines, places, err := to.PutDataset(ctx, stored)
	if err != nil {
		return evaluation.Manifest{}, objectstore.Ref{}, err
	}
	p.spec.Dataset.Lines = lines
	if p.model != nil {
		if p.spec.Detection.Model, err = to.PutModel(ctx, p.model); err != nil {
			return evaluation.Manifest{}, objectstore.Ref{}, err
		}
	}
	var items []evaluation.Item // the castings of a dialogue one after the other
	for i, d := range p.dialogues {
		item := evaluation.Item{ID: d.ID, Line: places[i]}
		if p.spec.Dataset.Clips {
			if item.Clip, err = putClip(ctx, to.Store, p.clips[d.ID]); err != nil {
				return evaluation.Manifest{}, objectstore.Ref{}, err
			}
		}
		for _, item.CastingNumber = range p.spec.CastingNumbers() {
			items = append(items, item)
		}
	}
	shown, err := putShown(ctx, to.Store, p.shown, places[len(p.dialogues):])
	if err != nil {
		return evaluation.Manifest{}, objectstore.Ref{}, err
	}
	return a.create(ctx, c, to, p, items, shown)
}

// create stores the chunks and the manifest of an evaluation whose dialogues and
// clips are stored.
func (a *app) create(ctx context.Context, c client.Client, to archive.Archive, p plan, items []evaluation.Item, shown []evaluation.Exemplar) (evaluation.Manifest, objectstore.Ref, error) {
	estimates := map[string]evaluation.Cost{}
	if !p.spec.Budget.IsZero() {
		for _, d := range p.dialogues {
			estimates[d.ID] = evaluation.Estimate(p.spec, d)
		}
	}
	for i := range items {
		items[i].Alias, items[i].Estimate = p.alias(i), estimates[items[i].ID]
	}
	for i := range shown {
		shown[i].Item.Alias = p.alias(i)
	}
	chunks := evaluation.Divide(items, p.spec.Limits.ChunkSize)
	manifest, ref, err := to.Create(ctx, evaluation.Manifest{Spec: p.spec, Created: time.Now().UTC(), Exemplars: p.excluded, Shown: shown}, chunks)
	if errors.Is(err, archive.ErrUsed) {
		return manifest, ref, a.used(ctx, c, p.spec.ID)
	}
	return manifest, ref, err
}

// alias names an item by its place, where Temporal must not show ids.
func (p plan) alias(i int) string {
	if !p.spec.Private {
		return ""
	}
	return fmt.Sprintf("%06d", i)
}

// used says what to do about an id that has a manifest.
func (a *app) used(ctx context.Context, c client.Client, id string) error {
	_, err := c.DescribeWorkflow(ctx, evaluation.WorkflowID(id), "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return fmt.Errorf("evaluation %q exists in the store but not in Temporal (it was never started, or is past the namespace's retention): use another --id, or `starter report %[1]s` for what is stored", id)
	}
	return fmt.Errorf("evaluation %q exists: use another --id, or come back to it with `starter watch %[1]s` or `starter report %[1]s`", id)
}

func putClip(ctx context.Context, store objectstore.Store, path string) (objectstore.Ref, error) {
	file, err := os.Open(path)
	if err != nil {
		return objectstore.Ref{}, fmt.Errorf("clip: %w", err)
	}
	defer file.Close()
	hash, err := fileHash(path)
	if err != nil {
		return objectstore.Ref{}, err
	}
	extension := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	// Written anew though it may be there: see archive.Collector.
	return store.Put(ctx, evaluation.SourceClipKey(hash, extension), file, objectstore.PutOptions{ContentType: "audio/" + extension})
}

func fileHash(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// start starts the workflow of a stored manifest.
func start(ctx context.Context, c client.Client, m evaluation.Manifest, ref objectstore.Ref) (client.WorkflowRun, error) {
	spec := m.Spec
	input := workflows.EvaluateInput{
		Evaluation:  spec.ID,
		Manifest:    ref,
		Chunks:      m.Chunks,
		Items:       m.Items,
		Limits:      spec.Limits,
		DetectQueue: spec.Detection.Queue(),
		Shown:       len(m.Shown) > 0,
		Prices:      spec.Prices,
		Budget:      spec.Budget,
		Settings:    spec.Settings(),
	}
	for _, e := range m.Shown {
		if e.Item.Clip.IsZero() && slices.Contains(spec.Detection.Modalities(), detect.Audio) {
			input.Exemplars = append(input.Exemplars, e.Item)
		}
	}
	input.Estimates = m.Estimates
	input.SpeechQueue = speechQueueOf(spec)
	var attributes temporal.SearchAttributes
	if spec.SearchAttributes {
		input.Attributes = spec.Attributes()
		attributes = typed(input.Attributes)
	}
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                    evaluation.WorkflowID(spec.ID),
		TaskQueue:             evaluation.QueueMain,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		TypedSearchAttributes: attributes,
		// Everything below inherits it: evaluations of one priority take turns.
		Priority:      temporal.Priority{PriorityKey: spec.Limits.Priority, FairnessKey: spec.ID},
		StaticSummary: fmt.Sprintf("%s of %s by %s", spec.Counted(m.Items), evaluation.EncodeID(spec.Dataset.Label()), spec.Detection.Detector),
		StaticDetails: input.Settings.Markdown(),
	}, workflows.Evaluate, input)
	if err != nil && spec.SearchAttributes && strings.Contains(err.Error(), "search attribute") {
		return nil, fmt.Errorf("start evaluation: %w (run `starter setup`, or use --search-attributes=off)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("start evaluation: %w", err)
	}
	return run, nil
}

func typed(values map[string]string) temporal.SearchAttributes {
	var updates []temporal.SearchAttributeUpdate
	for name, value := range values {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(name).ValueSet(value))
	}
	return temporal.NewSearchAttributes(updates...)
}

// speechQueueOf is where an evaluation has its turns spoken; "" where none are.
func speechQueueOf(spec evaluation.Spec) string {
	if spec.Dataset.Clips || !spec.Heard() {
		return ""
	}
	return evaluation.SpeechQueue(spec.Speech.Synthesizer)
}

// queuesOf are the queues that an evaluation needs workers on.
func queuesOf(spec evaluation.Spec) []queue {
	queues := []queue{{evaluation.QueueMain, enumspb.TASK_QUEUE_TYPE_WORKFLOW, "--roles workflows"}}
	if name := speechQueueOf(spec); name != "" {
		queues = append(queues, queue{name, enumspb.TASK_QUEUE_TYPE_ACTIVITY, "--roles speech --synthesizer " + spec.Speech.Synthesizer})
	}
	return append(queues,
		queue{evaluation.QueueAudio, enumspb.TASK_QUEUE_TYPE_ACTIVITY, "--roles audio"},
		queue{spec.Detection.Queue(), enumspb.TASK_QUEUE_TYPE_ACTIVITY, fmt.Sprintf("--roles detect --accelerator %s --pool %s", spec.Detection.Accelerator, spec.Detection.Pool)})
}
