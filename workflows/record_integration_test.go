//go:build integration && linux

package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/devstacktest"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

var record = flag.Bool("record", false, "keep the histories in "+histories)

// TestRecordHistories runs the workflows on a dev stack's Temporal, with the
// fakes for activities, and replays what the server recorded. To record anew
// after a change of workflow code that has landed, in the repository's root:
//
//	make build
//	SPEECHMANIP_BIN=$PWD/bin go test -count=1 -tags integration -run TestRecordHistories ./workflows -record
func TestRecordHistories(t *testing.T) {
	r := newRecorder(t)
	folder := t.TempDir()
	if *record {
		folder = histories
	}
	input := func(id string) EvaluateInput {
		in := inputOf(1)
		in.Evaluation, in.Items, in.Limits.Dialogues = id, 3, 2
		in.Attributes = map[string]string{evaluation.AttributeEvaluation: id}
		return in
	}

	r.reset()
	r.run(t, "whole", Evaluate, input("whole"))
	r.save(t, folder, "evaluate-completed", "whole")
	r.save(t, folder, "chunk-completed", evaluation.ChunkWorkflowID("whole", 0))
	r.save(t, folder, "dialogue-yes", evaluation.DialogueWorkflowID("whole", "00", 0))

	r.reset().on["DetectPass 3"] = func() { r.cancel(t, "stopped") }
	if err := r.run(t, "stopped", Evaluate, input("stopped")); !temporal.IsCanceledError(err) {
		t.Errorf("the cancelled evaluation ended with %v", err)
	}
	r.save(t, folder, "evaluate-cancelled", "stopped")

	r.reset().fail["SynthesizeTurn 1"] = noCredits()
	paused := budgeted(&r.fakes, input("paused"), 20, 33+19) // pauses once more, on the third dialogue
	go r.resumeWhenPaused(t, "paused")
	if err := r.run(t, "paused", Evaluate, paused); err != nil {
		t.Errorf("the paused evaluation ended with %v", err)
	}
	r.save(t, folder, "evaluate-paused", "paused")
	r.save(t, folder, "chunk-paused", evaluation.ChunkWorkflowID("paused", 0))
	r.save(t, folder, "dialogue-paused", evaluation.DialogueWorkflowID("paused", "00", 0))

	r.reset()
	shown := input("shown")
	shown.Shown, shown.Exemplars = true, []evaluation.Item{{ID: "x1"}, {ID: "x2"}}
	if err := r.run(t, "shown", Evaluate, shown); err != nil {
		t.Errorf("the evaluation with exemplars ended with %v", err)
	}
	r.save(t, folder, "evaluate-exemplars", "shown")
	r.save(t, folder, "exemplar-rendered", evaluation.ExemplarWorkflowID("shown", "x1"))

	for name, change := range map[string]func(*fakes){
		"dialogue-both": func(f *fakes) {
			f.plan.Modalities, f.plan.Swap = []detect.Modality{detect.Audio, detect.Text}, true
		},
		"dialogue-early-stop": func(f *fakes) { f.plan.Rules.Votes = vote.VotesEarlyStop },
		"dialogue-analytic":   func(f *fakes) { f.plan.Rules.Votes, f.choice = vote.VotesAnalytic, 700_000_000 },
		// Nobody polls that queue: the passes go elsewhere.
		"dialogue-affinity": func(f *fakes) { f.plan.SharesPrefix, f.own = true, "detect-cpu-baseline@00000000" },
		"dialogue-no": func(f *fakes) {
			f.votes = []vote.Vote{vote.VoteNo, vote.VoteNo, vote.VoteNo, vote.VoteNo, vote.VoteYes}
		},
		"dialogue-unresolved": func(f *fakes) {
			f.votes = []vote.Vote{vote.VoteNo, vote.VoteNo, vote.VoteYes, vote.VoteYes, vote.VoteInvalid}
		},
		"dialogue-stored-clip": func(f *fakes) { f.plan.Spoken, f.plan.Clip, f.plan.Timeline = nil, ref("clip"), ref("timeline") },
		"dialogue-text":        func(f *fakes) { f.plan.Spoken, f.plan.NeedsClip, f.quotes = nil, false, []string{"", "words"} },
		"dialogue-failed": func(f *fakes) {
			f.fail["SynthesizeTurn 1"] = temporal.NewNonRetryableApplicationError("no voice v9", "voice_not_found", nil)
		},
		"dialogue-cancelled": func(f *fakes) { f.on["DetectPass 3"] = func() { r.cancel(t, "dialogue-cancelled") } },
	} {
		change(r.reset())
		err := r.run(t, name, EvaluateDialogue, task)
		if ended := strings.HasSuffix(name, "failed") || strings.HasSuffix(name, "cancelled"); (err != nil) != ended {
			t.Errorf("%s ended with %v", name, err)
		}
		r.save(t, folder, name, name)
	}

	r.recordLimiter(t, folder)
	r.recordSensitivity(t, folder)

	r.replay(t, folder)
}

// recorder is a Temporal server with workers on all queues.
type recorder struct {
	fakes
	client client.Client
	saved  []string // histories
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	stack := devstacktest.Start(t)
	// The identity would name this machine in the histories.
	c, err := client.Dial(client.Options{HostPort: stack.Temporal, Namespace: stack.Namespace, Identity: "recorder", Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r := &recorder{client: c}
	r.reset()
	r.registerAttributes(t, stack.Namespace)
	for _, queue := range []string{evaluation.QueueMain, evaluation.QueueAudio, r.plan.SpeechQueue, r.plan.DetectQueue} {
		w := worker.New(c, queue, worker.Options{DisableWorkflowWorker: queue != evaluation.QueueMain, Identity: "recorder"})
		if queue == evaluation.QueueMain {
			Register(w)
		}
		w.RegisterActivity(&r.fakes)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
	return r
}

func (r *recorder) registerAttributes(t *testing.T, namespace string) {
	t.Helper()
	attributes := map[string]enumspb.IndexedValueType{}
	for _, name := range evaluation.SearchAttributes() {
		attributes[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	if _, err := r.client.OperatorService().AddSearchAttributes(t.Context(), &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: attributes,
	}); err != nil {
		t.Fatal(err)
	}
}

// reset gives the fakes their first answers again.
func (r *recorder) reset() *fakes {
	fresh := newFakes()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan, r.votes, r.top, r.quotes = fresh.plan, fresh.votes, fresh.top, fresh.quotes
	r.stored, r.fail, r.on = fresh.stored, fresh.fail, fresh.on
	r.otherVotes, r.choice, r.own = nil, 0, ""
	r.chunks = map[string]evaluation.Chunk{"chunk": chunkOf(3)}
	return &r.fakes
}

// run executes a workflow under an id and returns how it ended.
func (r *recorder) run(t *testing.T, id string, workflow, input any) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run, err := r.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: evaluation.QueueMain}, workflow, input)
	if err != nil {
		t.Fatal(err)
	}
	return run.Get(ctx, nil)
}

// resumeWhenPaused does what a person would: it gives what is missing, once.
func (r *recorder) resumeWhenPaused(t *testing.T, id string) {
	for {
		select {
		case <-t.Context().Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
		var p evaluation.Progress
		value, err := r.client.QueryWorkflow(t.Context(), id, "", evaluation.QueryProgress)
		if err != nil || value.Get(&p) != nil || p.Paused == nil {
			continue // it has not begun, or doesn't wait yet
		}
		r.let("SynthesizeTurn 1", nil)
		resume := evaluation.Resume{Generation: p.Paused.Generation + 1}
		if p.Paused.Code == evaluation.ReasonBudget {
			resume.Budget = evaluation.Budget{Calls: 1000}
		}
		if err := r.client.SignalWorkflow(t.Context(), id, "", evaluation.SignalResume, resume); err != nil {
			return // it has ended
		}
	}
}

func (r *recorder) cancel(t *testing.T, id string) {
	if err := r.client.CancelWorkflow(t.Context(), id, ""); err != nil {
		t.Error(err)
	}
}

// replay takes what was saved through the workflows' code again, as TestReplay does.
func (r *recorder) replay(t *testing.T, folder string) {
	t.Helper()
	replayer := worker.NewWorkflowReplayer()
	Register(replayer)
	for _, name := range r.saved {
		if err := replayer.ReplayWorkflowHistoryFromJSONFile(silent{}, historyFile(folder, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Contains(recorded, name) {
			t.Errorf("%s is recorded and never replayed", name)
		}
	}
}

// save writes a workflow's history as JSON.
func (r *recorder) save(t *testing.T, folder, name, id string) {
	t.Helper()
	history := &historypb.History{}
	for events := r.client.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		history.Events = append(history.Events, event)
	}
	text, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(history)
	if err != nil {
		t.Fatal(err)
	}
	// Queues of one worker are named after its host.
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte(`"`+host+":"), []byte(`"recorder:`))
	var file bytes.Buffer
	if err := json.Indent(&file, text, "", " "); err != nil {
		t.Fatal(err)
	}
	file.WriteByte('\n')
	r.saved = append(r.saved, name)
	if err := os.WriteFile(historyFile(folder, name), file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
