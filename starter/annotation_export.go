package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/study"
)

// studyExportOptions are the flags of annotation export.
type studyExportOptions struct {
	form, modality string
	private        bool
}

var exportForms = []string{"long", "wide", "consensus", "batches"}

func (a *app) annotationExportCommand() *cobra.Command {
	var o studyExportOptions
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write what people have judged, at any time",
		Long: `Write what people have judged, at any time, to standard output:

  long       a row a vote, as "starter annotation agreement" reads it
  wide       a row an item and a column an annotator, of one --modality
  consensus  a row an item and modality: label, votes, adjudication
  batches    JSON lines of everything, flags and adjudications too; needs --private

Of who was erased nothing is written. Times are written with --private alone: keep such
a file to yourself.`,
		Args: exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.exportStudy(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.form, "form", "long", strings.Join(exportForms, ", "))
	f.StringVar(&o.modality, "modality", "", "of the form wide: text or audio")
	f.BoolVar(&o.private, "private", false, "with times, for the study's leader alone")
	return cmd
}

func (a *app) exportStudy(ctx context.Context, id string, o studyExportOptions) error {
	if !slices.Contains(exportForms, o.form) {
		return usagef("--form %q: use %s", o.form, strings.Join(exportForms, ", "))
	}
	if o.form == "batches" && !o.private {
		return usagef("--form batches has times: say --private")
	}
	var modality annotation.Modality
	if o.form == "wide" {
		var err error
		if modality, err = annotation.ParseModality(o.modality); err != nil {
			return usagef("--modality: %w", err)
		}
	}
	l, err := a.openStudy(ctx, id)
	if err != nil {
		return err
	}
	out := study.Export{Study: l.study}
	if out.Erased, err = l.people.Erased(ctx, id); err != nil {
		return err
	}
	state, err := a.studyState(ctx, l)
	if err != nil && o.form == "consensus" {
		return err
	}
	if err != nil {
		fmt.Fprintf(a.err, "note: %v; batches that are not given back yet are not in this export\n", err)
	}
	if out.Batches, err = l.store.Batches(ctx, id); err != nil {
		return err
	}
	open, err := a.openBatches(ctx, l, state, out.Batches)
	if err != nil {
		return err
	}
	out.Batches = append(out.Batches, open...)
	switch o.form {
	case "wide":
		return out.WriteWide(a.out, modality)
	case "consensus":
		for _, who := range out.Erased {
			// One that it doesn't know was erased before they judged anything.
			_, _ = state.Remove(study.Remove{Annotator: who, Erase: true})
		}
		return out.WriteConsensus(a.out, state.Outcomes(), o.private)
	case "batches":
		return out.WriteBatches(a.out)
	}
	return out.WriteLong(a.out, o.private)
}

// studyState is what a study has ended with, or what its workflow knows.
func (a *app) studyState(ctx context.Context, l leading) (study.State, error) {
	state, err := l.store.StudyState(ctx, l.study.ID)
	if !errors.Is(err, objectstore.ErrNotFound) {
		return state, err
	}
	err = a.leading(ctx, l.study.ID, func(ctx context.Context, l leading) error {
		return l.query(ctx, study.WorkflowID(l.study.ID), study.QueryState, &state)
	})
	return state, err
}

// openBatches are the assignments that are worked on, as far as they are. One that was
// given back meanwhile is among the stored ones.
func (a *app) openBatches(ctx context.Context, l leading, state study.State, stored []study.Batch) ([]study.Batch, error) {
	var open []study.Assignment
	for _, e := range state.Assignments {
		back := slices.ContainsFunc(stored, func(b study.Batch) bool {
			return b.Assignment.Annotator == e.Annotator && b.Assignment.Part() == e.Part()
		})
		if e.Status == study.Open && !back {
			open = append(open, e.Assignment)
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	var batches []study.Batch
	err := a.leading(ctx, l.study.ID, func(ctx context.Context, l leading) error {
		for _, of := range open {
			p, err := l.progress(ctx, study.AssignmentWorkflowID(l.study.ID, of))
			if err != nil {
				return err
			}
			batches = append(batches, study.Batch{Study: l.study.ID, Assignment: of, Judgments: p.Judgments, Opened: p.Opened})
		}
		return nil
	})
	return batches, err
}
