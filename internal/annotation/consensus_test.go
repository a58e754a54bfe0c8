package annotation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		yes, no, share int
		want           vote.Verdict
	}{
		{0, 0, 0, vote.Unresolved},
		{1, 0, 0, vote.Yes},
		{0, 1, 0, vote.No},
		{2, 2, 0, vote.Unresolved},
		{3, 2, 0, vote.Yes},
		{3, 2, 60, vote.Yes}, // exactly the share
		{3, 2, 61, vote.Unresolved},
		{1, 2, 66, vote.No},
		{1, 2, 67, vote.Unresolved},
		{0, 5, 100, vote.No},
		{2, 2, 50, vote.Unresolved}, // a tie is no majority, whatever the share
	} {
		if got := (annotation.Rule{MinShare: c.share}).Decide(c.yes, c.no); got != c.want {
			t.Errorf("%d YES and %d NO at %d%% = %s, want %s", c.yes, c.no, c.share, got, c.want)
		}
	}
	for share, ok := range map[int]bool{-1: false, 0: true, 100: true, 101: false} {
		if err := (annotation.Rule{MinShare: share}).Check(); (err == nil) != ok {
			t.Errorf("check of %d%%: %v", share, err)
		}
	}
}

// Items 1 to 5: clear, tied, single, without votes, without truth.
const study = "ID,MentalManip,A,B,C,D\n" +
	"1,1,1,1,1,0\n" +
	"2,1,1,0,,\n" +
	"3,0,,,1,\n" +
	"4,0,,,,\n" +
	"5,,0,0,0,\n"

func TestConsensus(t *testing.T) {
	set := read(t, source("study.csv", study))
	got := set.Consensus(annotation.Text, annotation.Rule{})
	want := []annotation.Consensus{
		{Item: "1", Modality: annotation.Text, Label: vote.Yes, Yes: 3, No: 1},
		{Item: "2", Modality: annotation.Text, Label: vote.Unresolved, Yes: 1, No: 1},
		{Item: "3", Modality: annotation.Text, Label: vote.Yes, Yes: 1},
		{Item: "4", Modality: annotation.Text, Label: vote.Unresolved},
		{Item: "5", Modality: annotation.Text, Label: vote.No, No: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("consensus (-want +got):\n%s", diff)
	}
	if got := annotation.ByItem(got)["5"]; got != want[4] {
		t.Errorf("by item: %+v", got)
	}
	if got := set.Consensus(annotation.Audio, annotation.Rule{}); len(got) != 0 {
		t.Errorf("consensus of audio = %+v, want none", got)
	}

	table := annotation.AgainstTruth(got, set.Truth)
	wantTable := annotation.TruthTable{
		Table: [2][2]int{{1, 0}, {1, 0}}, Agree: 1, Items: 2, Unresolved: []string{"2", "4"}, Unlabelled: 1,
	}
	if diff := cmp.Diff(wantTable, table); diff != "" {
		t.Errorf("against truth (-want +got):\n%s", diff)
	}

	// The paper's way: the tie is a NO; what nobody judged stays open.
	table = annotation.AgainstTruth(annotation.TiesAsNo(got), set.Truth)
	wantTable = annotation.TruthTable{
		Table: [2][2]int{{1, 1}, {1, 0}}, Agree: 1, Items: 3, Unresolved: []string{"4"}, Unlabelled: 1,
	}
	if diff := cmp.Diff(wantTable, table); diff != "" {
		t.Errorf("ties as NO, against truth (-want +got):\n%s", diff)
	}
	if got[1].Label != vote.Unresolved {
		t.Error("TiesAsNo changed its argument")
	}
	if table := annotation.AgainstTruth(got, map[string]dialogue.Truth{}); table.Unlabelled != 5 || table.Items != 0 {
		t.Errorf("without truth: %+v", table)
	}
}

func TestSelect(t *testing.T) {
	set := read(t, source("study.csv", study)).Select([]string{"A", "D"})
	want := []annotation.Consensus{
		{Item: "1", Modality: annotation.Text, Label: vote.Unresolved, Yes: 1, No: 1},
		{Item: "2", Modality: annotation.Text, Label: vote.Yes, Yes: 1},
		{Item: "5", Modality: annotation.Text, Label: vote.No, No: 1},
	}
	if diff := cmp.Diff(want, set.Consensus(annotation.Text, annotation.Rule{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Item 1 (1110): A, B and C meet two YES against one NO; D meets three YES. Item 2
// (10): either meets the other. Item 5 (000): all meet NO. Item 3 has one vote.
func TestLeaveOneOut(t *testing.T) {
	set := read(t, source("study.csv", study))
	all, each := set.LeaveOneOut(annotation.Text, annotation.Rule{})
	want := []annotation.Reference{
		{Annotator: "A", Agree: 2, Votes: 3},
		{Annotator: "B", Agree: 2, Votes: 3},
		{Annotator: "C", Agree: 2, Votes: 2},
		{Annotator: "D", Votes: 1},
	}
	if diff := cmp.Diff(want, each); diff != "" {
		t.Errorf("each (-want +got):\n%s", diff)
	}
	if want := (annotation.Reference{Agree: 6, Votes: 9}); all != want {
		t.Errorf("all = %+v, want %+v", all, want)
	}
	// At 70% two of three is too few: A, B and C meet UNRESOLVED on item 1.
	all, _ = set.LeaveOneOut(annotation.Text, annotation.Rule{MinShare: 70})
	if want := (annotation.Reference{Agree: 3, Votes: 6, Unresolved: 3}); all != want {
		t.Errorf("all at 70%% = %+v, want %+v", all, want)
	}
}
