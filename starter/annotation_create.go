package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/study"
	"github.com/speechmanip/speechmanip/workflows"
)

// studyOptions are the flags of annotation create.
type studyOptions struct {
	id, evaluation             string
	items                      int
	annotators, consent        string // files
	guidelines                 string // a file
	modalities, attention      []string
	plan                       study.Plan
	repeat                     string
	rules                      study.Rules
	minTime                    time.Duration
	listening, force, planOnly bool
}

func (a *app) annotationCreateCommand() *cobra.Command {
	o := studyOptions{rules: study.DefaultRules()}
	cmd := &cobra.Command{
		Use:   "create --evaluation ID --items N --annotators FILE --consent FILE",
		Short: "Plan a study in which people judge an evaluation's items, and start it",
		Long: `Plan a study in which people judge an evaluation's items, show its design, and start
it. Each item gets at least --min-votes votes in each modality; a design that gives
fewer is refused unless --force accepts it.

Annotators are known to the study by pseudonyms. Let them in with
"starter annotation links ID".`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.createStudy(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.evaluation, "evaluation", "", "whose items are judged")
	f.StringVar(&o.id, "id", "", "the study's id; default: the evaluation's")
	f.IntVar(&o.items, "items", 100, "how many items, as many YES as NO as far as there are")
	f.StringVar(&o.annotators, "annotators", "", "file of the annotators' names or addresses, one a line (- reads standard input)")
	f.StringVar(&o.consent, "consent", "", "file of the consent text (`starter annotation consent --template` prints one to fill in)")
	f.StringVar(&o.guidelines, "guidelines", "", "file of plain text that annotators read first; default: the page's own")
	f.StringSliceVar(&o.modalities, "modality", []string{"text", "audio"}, "text, audio, or both")
	f.IntVar(&o.plan.Batches, "batches", 10, "batches of each modality")
	f.Float64Var(&o.plan.Overlap, "overlap", 0.2, "share of the items that stand in two batches, 0 to 0.5")
	f.IntVar(&o.rules.MinVotes, "min-votes", o.rules.MinVotes, "an item's quorum in each modality")
	f.IntVar(&o.plan.BatchesEach, "batches-each", 0, "batches of each annotator in each modality; 0: as many as --min-votes takes")
	f.StringVar(&o.repeat, "repeat", string(study.SameItems), "what an annotator meets in two modalities: same-items (paired, with carry-over) or disjoint")
	f.Uint64Var(&o.plan.Seed, "seed", 1, "seed of the choice of items, of the design and of every order")
	f.StringArrayVar(&o.attention, "attention", nil, "ITEM=YES or ITEM=NO: an attention check, shown and not counted; may be repeated")
	f.IntVar(&o.rules.Majority.MinShare, "min-share", 0, "share of an item's votes, in percent, below which its majority is UNRESOLVED; 0: ties only")
	f.DurationVar(&o.rules.RemindAfter, "remind-after", o.rules.RemindAfter, "time without a judgment after which status names an annotator; 0: never")
	f.DurationVar(&o.rules.Deadline, "deadline", o.rules.Deadline, "time for a batch, from when it is opened; 0: none")
	f.DurationVar(&o.minTime, "min-time", time.Duration(o.rules.MinMillis)*time.Millisecond, "a judgment in less is flagged, as is one in less than its clip's length")
	f.IntVar(&o.rules.StraightRun, "straight-run", o.rules.StraightRun, "so many equal answers in a row are flagged; 0: never")
	f.BoolVar(&o.listening, "listening-test", false, "ask of each clip how natural it sounds, and whether each speaker kept one voice")
	f.BoolVar(&o.planOnly, "plan", false, "show the design, and store and start nothing")
	f.BoolVar(&o.force, "force", false, "accept a design that gives items fewer votes")
	return cmd
}

// check completes what the flags say, without reading anything.
func (o *studyOptions) check() error {
	if o.evaluation == "" {
		return usagef("--evaluation is missing: whose items are judged")
	}
	if o.id == "" {
		o.id = o.evaluation
	}
	if err := study.CheckID(o.id); err != nil {
		return usagef("--id: %w", err)
	}
	for _, text := range o.modalities {
		m, err := annotation.ParseModality(text)
		if err != nil {
			return usagef("--modality: %w", err)
		}
		if slices.Contains(o.plan.Modalities, m) {
			return usagef("--modality names %s more than once", m)
		}
		o.plan.Modalities = append(o.plan.Modalities, m)
	}
	if o.items < 1 || o.items > study.MaxItems {
		return usagef("--items %d: use 1 to %d", o.items, study.MaxItems)
	}
	if o.annotators == "" || o.consent == "" && !o.planOnly {
		return usagef("--annotators and --consent are needed: who judges, and what they agree to")
	}
	o.plan.Repeat, o.plan.MinVotes, o.plan.Checks = study.Repeat(o.repeat), o.rules.MinVotes, len(o.attention)
	o.rules.MinMillis = int(o.minTime.Milliseconds())
	if err := o.rules.Check(); err != nil {
		return usageError{err}
	}
	return nil
}

func (a *app) createStudy(ctx context.Context, o studyOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	contacts, err := a.readContacts(o.annotators)
	if err != nil {
		return err
	}
	var consent people.ConsentText
	if o.consent != "" {
		if consent, err = a.readConsent(o.consent); err != nil {
			return err
		}
	}
	s := study.Study{ID: o.id, Evaluation: o.evaluation, Rules: o.rules, Listening: o.listening, Created: time.Now().UTC()}
	if s.Guidelines, err = a.readText(o.guidelines); err != nil {
		return err
	}
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	if err := o.choose(ctx, store, &s); err != nil {
		return err
	}
	// With names of its own first: nothing is stored of a design that isn't possible.
	if err := o.design(&s, placeholders(len(contacts))); err != nil {
		return err
	}
	if o.planOnly {
		return s.Design.WriteTable(a.out, len(o.plan.Truths))
	}
	c, err := a.dialToStart(ctx, cfg, store)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := store.Study(ctx, s.ID); !errors.Is(err, objectstore.ErrNotFound) {
		return errors.Join(err, fmt.Errorf("study %q exists: choose another --id, or start it with `starter annotation start %[1]s` where its start failed", s.ID))
	}
	registry := people.Registry{Store: store.Store, Now: time.Now}
	pseudonyms, err := register(ctx, registry, s.ID, contacts)
	if err != nil {
		return err
	}
	if err := o.design(&s, pseudonyms); err != nil {
		return err
	}
	if _, err := registry.SetConsentText(ctx, s.ID, consent); err != nil {
		return err
	}
	if err := store.PutStudy(ctx, s); err != nil {
		return err
	}
	if err := s.Design.WriteTable(a.out, len(o.plan.Truths)); err != nil {
		return err
	}
	return a.startStudy(ctx, c, s)
}

// design draws the design for annotators of these names.
func (o *studyOptions) design(s *study.Study, names []string) error {
	plan := o.plan
	plan.Annotators = names
	var err error
	if s.Design, err = study.New(plan); err != nil {
		return fmt.Errorf("this study can't be designed: %w", err)
	}
	if err := s.Design.CheckVotes(len(plan.Truths), o.rules.MinVotes); err != nil && !o.force {
		return fmt.Errorf("%w; or accept that with --force", err)
	}
	return nil
}

func placeholders(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("A%02d", i+1))
	}
	return names
}

func (a *app) annotationStartCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "start ID",
		Short: "Start a study that is stored, where create could not",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.leading(cmd.Context(), args[0], func(ctx context.Context, l leading) error { return a.startStudy(ctx, l.client, l.study) })
		},
	}
}

// startStudy starts the workflow of a stored study; one that runs, or has run, stays as
// it is.
func (a *app) startStudy(ctx context.Context, c client.Client, s study.Study) error {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                                       study.WorkflowID(s.ID),
		TaskQueue:                                evaluation.QueueMain,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            fmt.Sprintf("people judge %d items of %s", len(s.Items), s.Evaluation),
	}, workflows.Study, study.NewState(s))
	if err != nil {
		return fmt.Errorf("start study %s: %w", s.ID, err)
	}
	fmt.Fprintf(a.out, "\nstudy %s is started; let people in with: starter annotation links %[1]s\n", s.ID)
	return nil
}
