package evaluation

import (
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// The ids that a schedule's firings make are evaluation ids, and no two are one.
func TestScheduledIDs(t *testing.T) {
	longest := strings.Repeat("x", MaxScheduleID)
	for _, schedule := range []string{"nightly", longest} {
		if err := CheckScheduleID(schedule); err != nil {
			t.Error(err)
		}
		id := ScheduledID(FiringWorkflowID(schedule) + "-2026-03-01T02:30:00Z")
		if want := schedule + "-2026-03-01t023000z"; id != want {
			t.Errorf("%q, want %q", id, want)
		}
		for _, id := range []string{id, CanaryID(id)} {
			if err := CheckID(id); err != nil {
				t.Error(err)
			}
		}
		for _, key := range []string{ScheduleKey(schedule), FiringKey(schedule, id), LookKey(schedule, 7), OutcomeKey(id)} {
			if err := objectstore.CheckKey(key); err != nil {
				t.Error(err)
			}
		}
	}
	for _, bad := range []string{"", "Nightly", "a.b", "-a", longest + "x", "a/b"} {
		if CheckScheduleID(bad) == nil {
			t.Errorf("%q is a schedule's id", bad)
		}
	}
}
