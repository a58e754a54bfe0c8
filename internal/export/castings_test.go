package export

import (
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Every casting of a dialogue is an item with a name, and voices, of its own.
func TestCastingsAreExportedApart(t *testing.T) {
	r := report.Report{}
	for _, number := range []int{1, 2, 3} {
		record := evaluation.Record{ID: "a", CastingNumber: number, Clip: objectstore.Ref{Key: "clips/1.wav"}}
		record.Verdict.Verdict = vote.Yes
		r.Dialogues = append(r.Dialogues, report.Dialogue{Record: record})
	}
	set, err := NewSet(r, Options{Format: NeMo, Rights: "mine"}, map[evaluation.Rendition]bool{{ID: "a", Casting: 2}: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Dialogues) != 2 || len(set.LeftOut) != 1 || set.LeftOut[0].CastingNumber != 2 {
		t.Errorf("%d exported, left out %+v", len(set.Dialogues), set.LeftOut)
	}
	names := map[string]bool{FileName("a=n1"): true, FileName("\xc1"): true}
	for _, d := range r.Dialogues {
		name := clipName(d)
		if names[name] || !strings.HasPrefix(name, "a=n") {
			t.Errorf("casting %d is called %q", d.CastingNumber, name)
		}
		names[name] = true
		it := newItem(d, dialogue.Dialogue{ID: "a"}, nil, name)
		if it.Casting == nil || *it.Casting != d.CastingNumber || it.speaker(Turn{Speaker: "P"}) != name+"/P" {
			t.Errorf("item %+v of casting %d", it, d.CastingNumber)
		}
	}
	one := newItem(report.Dialogue{Record: evaluation.Record{ID: "a"}}, dialogue.Dialogue{}, nil, "a")
	if one.Casting != nil || one.speaker(Turn{Speaker: "P"}) != "a/P" {
		t.Errorf("item %+v of the only casting", one)
	}
}
