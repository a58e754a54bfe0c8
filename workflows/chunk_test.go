package workflows

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// chunkOf returns n items with the ids 0 to n-1, n below 100.
func chunkOf(n int) evaluation.Chunk {
	chunk := evaluation.Chunk{Items: make([]evaluation.Item, n)}
	for i := range chunk.Items {
		chunk.Items[i].ID = fmt.Sprintf("%02d", i)
	}
	return chunk
}

// dialogues stand in for EvaluateDialogue.
type dialogues struct {
	verdicts []vote.Verdict    // by id, again from the beginning when there are more ids; "" fails
	on       map[string]func() // by id, runs when the dialogue begins

	mu       sync.Mutex
	started  map[string]evaluation.Task // by id
	inFlight int
	most     int // in flight at once
}

func (d *dialogues) run(ctx workflow.Context, task evaluation.Task) (DialogueResult, error) {
	number, err := strconv.Atoi(task.Item.ID)
	if err != nil {
		return DialogueResult{}, err
	}
	d.begin(task)
	defer d.end()
	if hook := d.on[task.Item.ID]; hook != nil {
		hook()
	}
	// Later ones are quicker, so that they don't end in the order of their start.
	if err := workflow.Sleep(ctx, time.Duration(200-number)*time.Second); err != nil {
		return DialogueResult{}, err
	}
	verdict := d.verdicts[number%len(d.verdicts)]
	if verdict == "" {
		return DialogueResult{}, temporal.NewNonRetryableApplicationError("broken", "bad_input", nil)
	}
	return DialogueResult{Verdict: verdict, Usage: evaluation.Usage{TurnsMade: 2}}, nil
}

func (d *dialogues) begin(task evaluation.Task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started == nil {
		d.started = map[string]evaluation.Task{}
	}
	d.started[task.Item.ID] = task
	d.inFlight++
	d.most = max(d.most, d.inFlight)
}

func (d *dialogues) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inFlight--
}

// chunkEnvironment runs EvaluateChunk with d for its dialogues.
func chunkEnvironment(t *testing.T, f *fakes, d *dialogues) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	env := environment(t, f)
	env.RegisterWorkflow(EvaluateChunk)
	env.RegisterWorkflowWithOptions(d.run, workflow.RegisterOptions{Name: "EvaluateDialogue"})
	return env
}

var mixed = []vote.Verdict{vote.Yes, vote.No, vote.Unresolved, "", vote.Yes}

func TestChunkCounts(t *testing.T) {
	f := newFakes()
	f.chunks["chunk"] = chunkOf(10)
	d := &dialogues{verdicts: mixed}
	env := chunkEnvironment(t, f, d)
	env.ExecuteWorkflow(EvaluateChunk, ChunkInput{Evaluation: "e", Manifest: ref("manifest"), Engines: ref("engines"), Index: 3, Chunk: ref("chunk"), Dialogues: 4})

	var counts evaluation.Counts
	if err := env.GetWorkflowResult(&counts); err != nil {
		t.Fatal(err)
	}
	want := evaluation.Counts{Started: 10, Done: 10, Yes: 4, No: 2, Unresolved: 2, Failed: 2, Usage: evaluation.Usage{TurnsMade: 16}}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if d.most != 4 {
		t.Errorf("%d dialogues in flight at once, want 4", d.most)
	}
	if len(d.started) != 10 {
		t.Fatalf("%d dialogues started, want 10", len(d.started))
	}
	first := evaluation.Task{Evaluation: "e", Manifest: ref("manifest"), Engines: ref("engines"), Chunk: 3, Item: evaluation.Item{ID: "00"}}
	if diff := cmp.Diff(first, d.started["00"]); diff != "" {
		t.Errorf("first task (-want +got):\n%s", diff)
	}
	if f.count("CloseChunk 3") != 1 {
		t.Errorf("steps %q, want the chunk's records gathered once", f.calls)
	}
}

func TestChunkEmpty(t *testing.T) {
	f := newFakes()
	env := chunkEnvironment(t, f, &dialogues{})
	env.ExecuteWorkflow(EvaluateChunk, ChunkInput{Evaluation: "e", Chunk: ref("nothing"), Dialogues: 4})
	if err := env.GetWorkflowError(); err != nil {
		t.Error(err)
	}
}

func TestChunkWithoutItsList(t *testing.T) {
	f := newFakes()
	f.fail["LoadChunk"] = temporal.NewNonRetryableApplicationError("object not found", "object_not_found", nil)
	d := &dialogues{}
	env := chunkEnvironment(t, f, d)
	env.ExecuteWorkflow(EvaluateChunk, ChunkInput{Evaluation: "e", Chunk: ref("chunk"), Dialogues: 4})
	var application *temporal.ApplicationError
	if err := env.GetWorkflowError(); !errors.As(err, &application) || application.Type() != "object_not_found" {
		t.Errorf("error %v, want the cause", err)
	}
	if len(d.started) != 0 {
		t.Error("dialogues were started")
	}
}

// A cancelled chunk starts no more dialogues, waits for those in flight, and
// counts none of them as failed.
func TestChunkCancelled(t *testing.T) {
	f := newFakes()
	f.chunks["chunk"] = chunkOf(10)
	d := &dialogues{verdicts: []vote.Verdict{vote.Yes}}
	env := chunkEnvironment(t, f, d)
	d.on = map[string]func(){"02": env.CancelWorkflow}
	env.ExecuteWorkflow(EvaluateChunk, ChunkInput{Evaluation: "e", Chunk: ref("chunk"), Dialogues: 3})
	if err := env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Errorf("error %v, want that it is cancelled", err)
	}
	if len(d.started) != 3 || d.inFlight != 0 {
		t.Errorf("%d dialogues started, %d still in flight; want 3 and 0", len(d.started), d.inFlight)
	}
	if f.count("CloseChunk") != 0 {
		t.Error("a cancelled chunk's records were gathered as if it were finished")
	}
	value, err := env.QueryWorkflow(evaluation.QueryProgress)
	if err != nil {
		t.Fatal(err)
	}
	var progress evaluation.Progress
	if err := value.Get(&progress); err != nil {
		t.Fatal(err)
	}
	if progress.Failed != 0 {
		t.Errorf("progress %+v: cancelled dialogues count as failed", progress)
	}
}

// listen runs a chunk as Evaluate does and returns its signals.
func listen(ctx workflow.Context, in ChunkInput) ([]ChunkProgress, error) {
	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{}), EvaluateChunk, in)
	var signals []ChunkProgress
	done := false
	selector := workflow.NewSelector(ctx)
	selector.AddFuture(child, func(workflow.Future) { done = true })
	selector.AddReceive(workflow.GetSignalChannel(ctx, evaluation.SignalProgress), func(c workflow.ReceiveChannel, _ bool) {
		var signal ChunkProgress
		c.Receive(ctx, &signal)
		signals = append(signals, signal)
	})
	for !done || selector.HasPending() {
		selector.Select(ctx)
	}
	return signals, child.Get(ctx, nil)
}

func TestChunkSignalsQuarters(t *testing.T) {
	for _, test := range []struct {
		items int
		want  []int // dialogues done at each signal
	}{
		{1, nil},
		{2, []int{1}},
		{3, []int{1, 2}},
		{4, []int{1, 2, 3}},
		{10, []int{3, 5, 8}},
		{80, []int{20, 40, 60}},
	} {
		t.Run(fmt.Sprint(test.items), func(t *testing.T) {
			f := newFakes()
			f.chunks["chunk"] = chunkOf(test.items)
			env := chunkEnvironment(t, f, &dialogues{verdicts: mixed})
			env.RegisterWorkflow(listen)
			env.ExecuteWorkflow(listen, ChunkInput{Evaluation: "e", Index: 7, Chunk: ref("chunk"), Dialogues: 2})
			var signals []ChunkProgress
			if err := env.GetWorkflowResult(&signals); err != nil {
				t.Fatal(err)
			}
			var done []int
			for _, s := range signals {
				done = append(done, s.Counts.Done)
				c := s.Counts
				if s.Index != 7 || c.Yes+c.No+c.Unresolved+c.Failed != c.Done || c.Done > c.Started {
					t.Errorf("signal %+v doesn't add up", s)
				}
			}
			if diff := cmp.Diff(test.want, done); diff != "" {
				t.Errorf("done at each signal (-want +got):\n%s", diff)
			}
		})
	}
}
