package workflows

import (
	"os"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/actions"
)

// recordedTurns is how many turns the recorded dialogues that speak have spoken.
const recordedTurns = 3

// On Temporal Cloud a dialogue costs what its history says, and nothing more than
// it must: a start (two actions of a child), an activity a turn, the clip, its
// words and its measure, the preparation, five passes, the tactics and the quote;
// plan and record are local; the verdict is one upsert, of a child, as others have
// no attributes.
func TestActionsOfADialogue(t *testing.T) {
	for name, want := range map[string]actions.Count{
		"dialogue-yes":         {Starts: 2, Activities: recordedTurns + 3 + 1 + 5 + 2, LocalActivities: 2, Attributes: 1},
		"dialogue-no":          {Starts: 1, Activities: recordedTurns + 3 + 1 + 5, LocalActivities: 2},
		"dialogue-unresolved":  {Starts: 1, Activities: recordedTurns + 3 + 1 + 5, LocalActivities: 2},
		"dialogue-early-stop":  {Starts: 1, Activities: recordedTurns + 3 + 1 + 3 + 2, LocalActivities: 2},
		"dialogue-analytic":    {Starts: 1, Activities: recordedTurns + 3 + 1 + 1 + 2, LocalActivities: 2},
		"dialogue-stored-clip": {Starts: 1, Activities: 2 + 1 + 5 + 2, LocalActivities: 2},
		"dialogue-text":        {Starts: 1, Activities: 1 + 5 + 3, LocalActivities: 2}, // a second quote
	} {
		got := actions.Of(recordedEvents(t, name))
		if got.Retries = 0; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if yes := actions.Of(recordedEvents(t, "dialogue-yes")).Total(); yes > recordedTurns+18 {
		t.Errorf("a YES of %d turns takes %d actions, want at most turns + 18", recordedTurns, yes)
	}
}

// The histories stay short enough to look at: a dialogue's at most 100 events and 6
// a turn.
func TestEventsOfADialogue(t *testing.T) {
	for _, name := range []string{"dialogue-yes", "dialogue-no", "dialogue-unresolved", "dialogue-early-stop", "dialogue-stored-clip", "dialogue-text"} {
		if n := len(recordedEvents(t, name)); n > 100+6*recordedTurns {
			t.Errorf("%s has %d events", name, n)
		}
	}
}

func recordedEvents(t *testing.T, name string) []*historypb.HistoryEvent {
	t.Helper()
	file, err := os.Open(historyFile(histories, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	history, err := client.HistoryFromJSON(file, client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if events := history.GetEvents(); len(events) == 0 || events[0].GetEventType() != enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED {
		t.Fatalf("%s: %d events", name, len(events))
	}
	return history.GetEvents()
}
