package activities

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// casting returns the fixture's task in one of its dialogue's castings.
func (f *fixture) casting(number int) evaluation.Task {
	task := f.task
	task.Item.CastingNumber = number
	return task
}

// Of two castings, the speakers of one speak with each other's voices: no turn and no
// clip is shared, and the first is what an evaluation with one casting makes.
func TestCastingsAreSpokenApart(t *testing.T) {
	f := newFixture(t, nil)
	keys := func(task evaluation.Task) (turns []string) {
		t.Helper()
		job, err := f.planner.Library.Open(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		script, err := job.script()
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range script.Turns {
			if turn.Key != "" {
				turns = append(turns, turn.Key)
			}
		}
		return turns
	}
	only, first, second := keys(f.task), keys(f.casting(1)), keys(f.casting(2))
	if diff := cmp.Diff(only, first); diff != "" {
		t.Errorf("the first casting is not the only one (-want +got):\n%s", diff)
	}
	for _, key := range second {
		if slices.Contains(first, key) {
			t.Errorf("both castings have turn %s", key)
		}
	}
	clip := f.render(t)
	if plan := must[Plan](t, f.planner.PlanDialogue, f.casting(1)); plan.Clip != clip.Clip {
		t.Errorf("casting 1 doesn't find the clip: %+v", plan)
	}
	if plan := must[Plan](t, f.planner.PlanDialogue, f.casting(2)); !plan.Clip.IsZero() || len(plan.Spoken) != 3 {
		t.Errorf("casting 2 needs turns of its own: %+v", plan)
	}
	_, err := run[Plan](t, f.planner.PlanDialogue, f.casting(99))
	failedWith(t, err, "bad_input", false)
}

// A casting that failed has its voices in its record: they are what it counts against.
func TestSaveRecordOfCasting(t *testing.T) {
	f := newFixture(t, nil)
	failure := &evaluation.Failure{Stage: "synthesise turn 1", Code: "voice_not_found", Message: "no voice"}
	records := map[int]evaluation.Record{}
	for _, number := range []int{1, 2} {
		ref := must[objectstore.Ref](t, f.records.SaveRecord, RecordTask{Task: f.casting(number), Failure: failure})
		if want := evaluation.RecordKey("e", 0, "7", number); ref.Key != want {
			t.Errorf("record under %q, want %q", ref.Key, want)
		}
		records[number] = get[evaluation.Record](t, f.store, ref)
	}
	a, b := records[1].Casting, records[2].Casting
	if len(a) != 2 || len(b) != 2 || a[0].Voice != b[1].Voice || a[1].Voice != b[0].Voice {
		t.Errorf("castings %v and %v don't exchange their voices", a, b)
	}
	if records[2].CastingNumber != 2 || records[2].Failure == nil {
		t.Errorf("record %+v", records[2])
	}
	// One that can't be cast is still recorded.
	ref := must[objectstore.Ref](t, f.records.SaveRecord, RecordTask{Task: f.casting(99), Failure: failure})
	if r := get[evaluation.Record](t, f.store, ref); r.Casting != nil || r.CastingNumber != 99 {
		t.Errorf("record %+v", r)
	}
}
