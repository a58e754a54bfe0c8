package evaluation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// What has one casting is named as it was before there could be more, and no name of
// a casting is that of another dialogue.
func TestCastingsHaveTheirOwnNames(t *testing.T) {
	if got, want := DialogueWorkflowID("e", "a", 0), "e/d-a"; got != want {
		t.Errorf("workflow id %q, want %q", got, want)
	}
	if got, want := RecordKey("e", 2, "a", 0), "evaluations/e/records/00002/a.json"; got != want {
		t.Errorf("record key %q, want %q", got, want)
	}
	names := map[string]string{}
	for _, id := range []string{"", "a", "a=c1", "a=c2", "a=C1", "a (casting 1)", strings.Repeat("x", 300), strings.Repeat("x", 300) + "=c1"} {
		for number := range 3 {
			for _, name := range []string{DialogueWorkflowID("e", id, number), RecordKey("e", 0, id, number)} {
				if other, used := names[name]; used {
					t.Errorf("%q of %q, casting %d, is %q too", name, id, number, other)
				}
				names[name] = id
				if strings.HasSuffix(name, ".json") {
					if err := objectstore.CheckKey(name); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// The only casting of one evaluation is the first of another.
func TestRenditions(t *testing.T) {
	if a, b := (Item{ID: "a"}).Rendition(), (Record{ID: "a", CastingNumber: 1}).Rendition(); a != b {
		t.Errorf("%v is not %v", a, b)
	}
	for _, pair := range [][2]Rendition{{{"a", 2}, {"b", 1}}, {{"a", 1}, {"a", 2}}} {
		if pair[0].Compare(pair[1]) >= 0 || pair[1].Compare(pair[0]) <= 0 || pair[0].Compare(pair[0]) != 0 {
			t.Errorf("%v and %v are not in order", pair[0], pair[1])
		}
	}
	if got := "a" + CastingLabel(0) + CastingLabel(2); got != "a (casting 2)" {
		t.Errorf("labels %q", got)
	}
}

func TestCastingsAreHeard(t *testing.T) {
	for _, test := range []struct {
		castings int
		modality detect.Modality
		want     string
	}{
		{0, detect.Text, ""},
		{1, Both, ""},
		{2, detect.Audio, ""},
		{2, detect.ASR, ""},
		{2, detect.Text, "2 castings with modality text"},
		{3, Both, "judged 3 times"},
		{-1, detect.Audio, "at least 1"},
	} {
		s := Spec{Speech: Speech{Castings: test.castings}, Detection: Detection{Modality: test.modality}}
		err := s.checkCastings()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%d castings by %s: %v, want %q", test.castings, test.modality, err, test.want)
		}
	}
}

// Judging again keeps every casting apart, and names the one that has no clip.
func TestAgainKeepsCastingsApart(t *testing.T) {
	clip := func(name string) objectstore.Ref { return objectstore.Ref{Key: "clips/" + name, SHA256: name} }
	items := []Item{{ID: "a", CastingNumber: 1}, {ID: "a", CastingNumber: 2}, {ID: "b", CastingNumber: 1}, {ID: "b", CastingNumber: 2}}
	records := []Record{
		{ID: "a", CastingNumber: 2, Clip: clip("a2")},
		{ID: "a", CastingNumber: 1, Clip: clip("a1")},
		{ID: "b", CastingNumber: 1, Clip: clip("b1")},
		{ID: "b", CastingNumber: 2, Failure: &Failure{Code: "bad_text"}},
	}
	kept, leftOut := Again(items, records, true)
	want := []Item{
		{ID: "a", CastingNumber: 1, Clip: clip("a1")},
		{ID: "a", CastingNumber: 2, Clip: clip("a2")},
		{ID: "b", CastingNumber: 1, Clip: clip("b1")},
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Excluded{{ID: "b", CastingNumber: 2, Reason: "no clip: it failed (bad_text)"}}, leftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}
