package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/study"
)

// studyView is what annotation status shows.
type studyView struct {
	study.Status
	Open []study.Progress `json:"open,omitempty"` // batches that are worked on, without the judgments
}

func (a *app) annotationStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status ID",
		Short: "Show how far a study is, who is due for a reminder, and what looks careless",
		Args:  exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			view, err := a.studyView(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.out).Encode(view)
			}
			return writeStudyView(a.out, view)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// studyView asks the study and its open assignments; of a study that has ended, the
// store.
func (a *app) studyView(ctx context.Context, id string) (studyView, error) {
	l, err := a.openStudy(ctx, id)
	if err != nil {
		return studyView{}, err
	}
	if state, err := l.store.StudyState(ctx, id); err == nil {
		return studyView{Status: state.Status()}, nil
	}
	var view studyView
	err = a.leading(ctx, id, func(ctx context.Context, l leading) error {
		if err := l.query(ctx, study.WorkflowID(id), study.QueryStatus, &view.Status); err != nil {
			return err
		}
		for _, who := range view.Annotators {
			if who.Open == nil {
				continue
			}
			p, err := l.progress(ctx, who.Workflow)
			if err != nil {
				return err
			}
			view.Open = append(view.Open, p)
		}
		return nil
	})
	return view, err
}

func (l leading) query(ctx context.Context, workflow, name string, out any, args ...any) error {
	value, err := l.client.QueryWorkflow(ctx, workflow, "", name, args...)
	if err != nil {
		return fmt.Errorf("ask %s: %w (is a worker with role workflows running?)", workflow, err)
	}
	return value.Get(out)
}

func (l leading) progress(ctx context.Context, workflow string) (study.Progress, error) {
	var p study.Progress
	err := l.query(ctx, workflow, study.QueryAssignment, &p)
	return p, err
}

func writeStudyView(w io.Writer, v studyView) error {
	fmt.Fprintf(w, "study %s: %s", v.Study, v.Stage)
	if v.Paused {
		fmt.Fprint(w, ", paused")
	}
	fmt.Fprint(w, "\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "modality\titems\tclosed\tYES\tNO\tshort of votes\tto adjudicate\tin review\tadjudicated\tunresolved")
	for _, m := range v.Modalities {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", m.Modality, m.Items, m.Closed, m.Yes, m.No, m.Short,
			m.Adjudicated[study.Needed], m.Adjudicated[study.UnderReview], m.Adjudicated[study.Adjudicated], m.Adjudicated[study.Unresolvable])
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "annotator\tgiven back\twaiting\topen\tjudged\tdeadline\tflags\t")
	open := map[string]study.Progress{}
	for _, p := range v.Open {
		open[p.Assignment.Annotator] = p
	}
	for _, who := range v.Annotators {
		batch, judged, deadline, note := "", "", "", ""
		if p, ok := open[who.Annotator]; ok {
			batch, judged = p.Assignment.Part(), fmt.Sprintf("%d of %d", len(p.Judgments), len(p.Assignment.Items))
			deadline = day(p.Deadline)
			if !p.Reminder.IsZero() {
				note = "remind: nothing since " + day(lastJudged(p))
			}
		}
		if !who.Active {
			note = "removed"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%d\t%s\n", who.Annotator, who.Done, who.Waiting, batch, judged, deadline, who.Flags, note)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writeAdvice(w, v)
}

// writeAdvice says what looks careless, and what only the leader can help.
func writeAdvice(w io.Writer, v studyView) error {
	for i, f := range v.Flagged {
		if i == 0 {
			fmt.Fprintln(w, "\nflagged, for you to judge; nothing of it is left out:")
		}
		for _, flag := range f.Flags {
			fmt.Fprintf(w, "  %s %s: %s (%s)\n", f.Annotator, f.Part, flag.Text, flag.Code)
		}
	}
	short, stuck, waiting := 0, 0, len(v.Open)
	for _, m := range v.Modalities {
		short, stuck = short+m.Short, stuck+m.Adjudicated[study.Needed]
	}
	var err error
	switch {
	case waiting > 0 || v.Stage == study.Complete:
	case v.Stage == study.Judging && short > 0:
		_, err = fmt.Fprintf(w, "\n%d items lack votes, and nobody is to give them: `starter annotation add %s CONTACT`, or `starter annotation close %[2]s --stage judging`\n", short, v.Study)
	case v.Stage == study.Adjudicating && stuck > 0:
		_, err = fmt.Fprintf(w, "\n%d items need an adjudicator who hasn't judged them: `starter annotation add %s CONTACT`, or `starter annotation close %[2]s --stage adjudicating`\n", stuck, v.Study)
	}
	return err
}

func lastJudged(p study.Progress) time.Time {
	last := p.Opened
	for _, j := range p.Judgments {
		if j.Time.After(last) {
			last = j.Time
		}
	}
	return last
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}
