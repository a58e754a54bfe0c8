package evaluation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

func TestAgain(t *testing.T) {
	ref := func(key string) objectstore.Ref { return objectstore.Ref{Key: key} }
	line := Slice{Offset: 7, Length: 3, SHA256: "s"}
	items := []Item{
		{ID: "judged", Alias: "000000", Line: line, Estimate: Cost{Calls: 9}}, {ID: "detector failed", Line: line},
		{ID: "never spoken", Line: line}, {ID: "read", Line: line}, {ID: "no record", Line: line}, {ID: "given", Line: line, Clip: ref("given")},
	}
	records := []Record{
		{ID: "read"}, {ID: "judged", Clip: ref("clip"), Timeline: ref("timeline")},
		{ID: "detector failed", Clip: ref("clip 2"), Timeline: ref("timeline 2"), Failure: &Failure{Code: "server"}},
		{ID: "never spoken", Failure: &Failure{Code: "voice"}},
	}
	kept, leftOut := Again(items, records, true)
	if diff := cmp.Diff([]Item{
		{ID: "judged", Line: line, Clip: ref("clip"), Timeline: ref("timeline")},
		{ID: "detector failed", Line: line, Clip: ref("clip 2"), Timeline: ref("timeline 2")},
		{ID: "given", Line: line, Clip: ref("given")},
	}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Excluded{
		{ID: "never spoken", Reason: "no clip: it failed (voice)"},
		{ID: "read", Reason: "no clip: its text alone was judged"},
		{ID: "no record", Reason: "no clip: it has no record yet"},
	}, leftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if kept, leftOut := Again(items, records, false); len(kept) != 6 || leftOut != nil {
		t.Errorf("of the text: %d kept, %v", len(kept), leftOut)
	}
}
