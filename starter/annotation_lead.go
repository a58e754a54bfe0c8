package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/study"
)

// leading is what commands on a study need.
type leading struct {
	study  study.Study
	store  archive.Archive
	people people.Registry
	client client.Client
}

// openStudy reads a study; its client is nil.
func (a *app) openStudy(ctx context.Context, id string) (leading, error) {
	if err := study.CheckID(id); err != nil {
		return leading{}, usageError{err}
	}
	_, store, err := a.openStore(ctx)
	if err != nil {
		return leading{}, err
	}
	l := leading{store: store, people: people.Registry{Store: store.Store, Now: time.Now}}
	l.study, err = store.Study(ctx, id)
	if errors.Is(err, objectstore.ErrNotFound) {
		return l, fmt.Errorf("no study %q: `starter annotation create` makes one", id)
	}
	return l, err
}

// leading does something to a study that is stored, with Temporal.
func (a *app) leading(ctx context.Context, id string, do func(context.Context, leading) error) error {
	l, err := a.openStudy(ctx, id)
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if l.client, err = a.dialToStart(ctx, cfg, l.store); err != nil {
		return err
	}
	defer l.client.Close()
	return do(ctx, l)
}

// update changes a running study; out may be nil.
func (l leading) update(ctx context.Context, name string, out any, args ...any) error {
	handle, err := l.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: study.WorkflowID(l.study.ID), UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, out)
	}
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return fmt.Errorf("study %s is not running: %w", l.study.ID, errNotRunning)
	}
	return err
}

var errNotRunning = errors.New("it has ended, or was never started")

func (a *app) annotationPauseCommand(name, short string, pause bool) *cobra.Command {
	return &cobra.Command{
		Use:   name + " ID",
		Short: short,
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.leading(cmd.Context(), args[0], func(ctx context.Context, l leading) error {
				if err := l.update(ctx, study.UpdatePause, nil, pause); err != nil {
					return err
				}
				fmt.Fprintf(a.out, "study %s: %s\n", l.study.ID, map[bool]string{true: "paused", false: "goes on"}[pause])
				return nil
			})
		},
	}
}

func (a *app) annotationAddCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "add ID CONTACT",
		Short: "Take in an annotator: they get what others have left undone, and adjudicate",
		Args:  exactArgs("ID", "CONTACT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.leading(cmd.Context(), args[0], func(ctx context.Context, l leading) error { return a.addAnnotator(ctx, l, args[1]) })
		},
	}
}

func (a *app) addAnnotator(ctx context.Context, l leading, contact string) error {
	known, err := l.people.List(ctx, l.study.ID)
	if err != nil {
		return err
	}
	for _, p := range known {
		if p.Contact == contact {
			return fmt.Errorf("%q is %s in study %s already", contact, p.Pseudonym, l.study.ID)
		}
	}
	added, err := l.people.Add(ctx, l.study.ID, []string{contact})
	if err != nil {
		return err
	}
	if err := l.update(ctx, study.UpdateAdd, nil, added[0].Pseudonym); err != nil {
		return errors.Join(err, l.people.Erase(ctx, l.study.ID, added[0].Pseudonym))
	}
	fmt.Fprintf(a.out, "study %s: added %s; let them in with: starter annotation links %[1]s\n", l.study.ID, added[0].Pseudonym)
	return nil
}

func (a *app) annotationRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "remove ID PSEUDONYM",
		Short: "Take an annotator out: what they have given counts, their link is revoked",
		Args:  exactArgs("ID", "PSEUDONYM"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.leading(cmd.Context(), args[0], func(ctx context.Context, l leading) error {
				if err := l.update(ctx, study.UpdateRemove, nil, study.Remove{Annotator: args[1]}); err != nil {
					return err
				}
				if err := l.people.Revoke(ctx, l.study.ID, args[1]); err != nil {
					return err
				}
				fmt.Fprintf(a.out, "study %s: %s is out; what they have given counts\n", l.study.ID, args[1])
				return nil
			})
		},
	}
}

func (a *app) annotationEraseCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "erase ID PSEUDONYM --yes",
		Short: "Forget an annotator: name, key, link, notes and judgments",
		Long: `Forget an annotator who withdraws: their name, key, link, notes and judgments are
deleted, their votes count no more, and no export has them. May be repeated.

What Temporal's history holds of them, answers under a pseudonym, goes with its
retention; nothing leads from there to a person any more. A store that keeps old versions
of objects has to be told to forget those below people/.`,
		Args: exactArgs("ID", "PSEUDONYM"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usagef("erasing can't be undone: say --yes")
			}
			return a.leading(cmd.Context(), args[0], func(ctx context.Context, l leading) error { return a.erase(ctx, l, args[1]) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "erase, for good")
	return cmd
}

func (a *app) erase(ctx context.Context, l leading, pseudonym string) error {
	// First what can't be undone by anything that breaks off below.
	if err := l.people.Erase(ctx, l.study.ID, pseudonym); err != nil {
		return err
	}
	remove := study.Remove{Annotator: pseudonym, Erase: true}
	if err := l.update(ctx, study.UpdateRemove, nil, remove); err != nil && !errors.Is(err, errNotRunning) {
		return fmt.Errorf("%s is forgotten, and the study doesn't know yet: %w; say it again", pseudonym, err)
	}
	if err := l.store.DeleteBatches(ctx, l.study.ID, pseudonym); err != nil {
		return err
	}
	if err := l.store.ForgetInState(ctx, l.study.ID, remove); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "study %s: %s is forgotten\n", l.study.ID, pseudonym)
	return nil
}

func (a *app) annotationCloseCommand() *cobra.Command {
	var stage string
	cmd := &cobra.Command{
		Use:   "close ID --stage judging|adjudicating",
		Short: "Wait for nobody any more: the stage ends with what there is",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s := study.Stage(stage); s != study.Judging && s != study.Adjudicating {
				return usagef("--stage %q: use %s or %s", stage, study.Judging, study.Adjudicating)
			}
			return a.leading(cmd.Context(), args[0], func(ctx context.Context, l leading) error {
				if err := l.update(ctx, study.UpdateClose, nil, study.Stage(stage)); err != nil {
					return err
				}
				fmt.Fprintf(a.out, "study %s: %s is closed\n", l.study.ID, stage)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "", "the stage that ends: judging or adjudicating")
	return cmd
}
