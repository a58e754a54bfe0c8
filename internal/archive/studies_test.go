package archive_test

import (
	"errors"
	"testing"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/study"
)

func TestStudies(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	ctx := t.Context()
	if _, err := a.Study(ctx, "s"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("no study: %v", err)
	}
	if err := a.PutStudy(ctx, study.Study{ID: "s", Evaluation: "e"}); err != nil {
		t.Fatal(err)
	}
	if err := a.PutStudy(ctx, study.Study{ID: "s", Evaluation: "other"}); !errors.Is(err, archive.ErrUsed) {
		t.Errorf("a used id: %v", err)
	}
	if s, err := a.Study(ctx, "s"); err != nil || s.Evaluation != "e" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, name := range []string{"A01", "A010", "A02"} {
		b := study.Batch{Study: "s", Assignment: study.Assignment{Annotator: name, Modality: "text"}}
		if _, err := objectstore.PutJSON(ctx, a.Store, study.BatchKey("s", b.Assignment), b, objectstore.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.DeleteBatches(ctx, "s", "A01"); err != nil {
		t.Fatal(err)
	}
	batches, err := a.Batches(ctx, "s")
	if err != nil || len(batches) != 2 || batches[0].Assignment.Annotator != "A010" || batches[1].Assignment.Annotator != "A02" {
		t.Errorf("%+v, %v", batches, err)
	}
}

func TestForgetInState(t *testing.T) {
	a := archive.Archive{Store: mem.New()}
	ctx := t.Context()
	remove := study.Remove{Annotator: "A01", Erase: true}
	if err := a.ForgetInState(ctx, "s", remove); err != nil {
		t.Errorf("a study that goes on: %v", err)
	}
	state := study.State{ID: "s", Annotators: []study.Annotator{{Name: "A01", Active: true}}, Assignments: []study.Entry{
		{Assignment: study.Assignment{Annotator: "A01", Items: []int{0}}, Status: study.Ended, Labels: "Y"},
	}}
	if _, err := objectstore.PutJSON(ctx, a.Store, study.StateKey("s"), state, objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := a.ForgetInState(ctx, "s", remove); err != nil {
		t.Fatal(err)
	}
	if got, err := a.StudyState(ctx, "s"); err != nil || got.Assignments[0].Labels != "" || got.Annotators[0].Active {
		t.Errorf("%+v, %v", got, err)
	}
}
