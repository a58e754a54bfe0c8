//go:build integration && linux

package e2e

import (
	"slices"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"github.com/speechmanip/speechmanip/internal/actions"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// size is how large histories are: of several, the largest.
type size struct{ events, bytes, payload int }

func (s size) max(other size) size {
	return size{max(s.events, other.events), max(s.bytes, other.bytes), max(s.payload, other.payload)}
}

// tree is what the histories of an evaluation come to.
type tree struct {
	runs                      int // of Evaluate
	evaluate, chunk, dialogue size
	perTurn                   int // the most events of a dialogue beyond 6 a turn spoken
	read                      int // dialogues whose histories were read: all, or evenly chosen ones
	dialogues                 actions.Count
	above                     actions.Count // of Evaluate and the chunks
}

// perDialogue is the mean over the dialogues that were read.
func (tr tree) perDialogue(n int) float64 { return float64(n) / float64(max(1, tr.read)) }

// mostHistories is how many dialogues' histories are read of an evaluation.
const mostHistories = 300

// tree reads what Temporal has of an evaluation.
func (r *rig) tree(t *testing.T, c client.Client, id string) tree {
	t.Helper()
	var tr tree
	for run := ""; ; {
		events := historyOf(t, c, evaluation.WorkflowID(id), run)
		tr.runs++
		tr.evaluate = tr.evaluate.max(sizeOf(t, events))
		tr.above = tr.above.Add(actions.Of(events))
		if run = events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); run == "" {
			break
		}
	}
	manifest, _, err := r.archive(t).Manifest(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	every := max(1, manifest.Items/mostHistories)
	seen := 0
	for index, ref := range manifest.Chunks {
		events := historyOf(t, c, evaluation.ChunkWorkflowID(id, index), "")
		tr.chunk = tr.chunk.max(sizeOf(t, events))
		tr.above = tr.above.Add(actions.Of(events))
		chunk, err := objectstore.GetJSON[evaluation.Chunk](t.Context(), r.archive(t).Store, ref)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range chunk.Items {
			if seen++; seen%every != 0 {
				continue
			}
			events := historyOf(t, c, evaluation.DialogueWorkflowID(id, item.Name(), item.CastingNumber), "")
			tr.dialogue = tr.dialogue.max(sizeOf(t, events))
			tr.perTurn = max(tr.perTurn, len(events)-6*spokenIn(events))
			tr.dialogues = tr.dialogues.Add(actions.Of(events))
			tr.read++
		}
	}
	return tr
}

func historyOf(t *testing.T, c client.Client, id, run string) []*historypb.HistoryEvent {
	t.Helper()
	var events []*historypb.HistoryEvent
	for all := c.GetWorkflowHistory(t.Context(), id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); all.HasNext(); {
		event, err := all.Next()
		if err != nil {
			t.Fatalf("history of %s: %v", id, err)
		}
		events = append(events, event)
	}
	return events
}

func sizeOf(t *testing.T, events []*historypb.HistoryEvent) size {
	t.Helper()
	s := size{events: len(events)}
	for _, event := range events {
		s.bytes += proto.Size(event)
		err := proxy.VisitPayloads(t.Context(), event, proxy.VisitPayloadsOptions{
			Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
				for _, p := range payloads {
					s.payload = max(s.payload, proto.Size(p))
				}
				return payloads, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// spokenIn counts the turns that a dialogue had spoken.
func spokenIn(events []*historypb.HistoryEvent) int {
	return len(slices.DeleteFunc(slices.Clone(events), func(e *historypb.HistoryEvent) bool {
		return e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() != "SynthesizeTurn"
	}))
}
