package workflows

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// chunks stand in for EvaluateChunk: each finishes ten dialogues.
type chunks struct {
	on   map[int]func() // by index, runs when the chunk begins
	fail map[int]error  // by index

	mu       sync.Mutex
	started  []ChunkInput
	inFlight int
	most     int
}

func (c *chunks) run(ctx workflow.Context, in ChunkInput) (evaluation.Counts, error) {
	c.mu.Lock()
	c.started = append(c.started, in)
	c.inFlight++
	c.most = max(c.most, c.inFlight)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.inFlight--
		c.mu.Unlock()
	}()
	if hook := c.on[in.Index]; hook != nil {
		hook()
	}
	if err := workflow.Sleep(ctx, time.Duration(1+in.Index)*time.Minute); err != nil {
		return evaluation.Counts{}, err
	}
	return evaluation.Counts{Started: 10, Done: 10, Yes: 6, No: 3, Failed: 1}, c.fail[in.Index]
}

func evaluateEnvironment(t *testing.T, f *fakes, c *chunks) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	env := environment(t, f)
	env.RegisterWorkflowWithOptions(c.run, workflow.RegisterOptions{Name: "EvaluateChunk"})
	return env
}

// inputOf returns the input of an evaluation of n chunks of ten dialogues, two
// chunks at once.
func inputOf(n int) EvaluateInput {
	in := EvaluateInput{
		Evaluation: "e", Manifest: ref("manifest"), Items: 10 * n,
		Limits:      evaluation.Limits{ChunkSize: 10, Chunks: 2, Dialogues: 3},
		SpeechQueue: "speech-flite", DetectQueue: "detect-cpu-baseline",
	}
	for range n {
		in.Chunks = append(in.Chunks, ref("chunk"))
	}
	return in
}

func TestEvaluateStages(t *testing.T) {
	f, c := newFakes(), &chunks{}
	env := evaluateEnvironment(t, f, c)
	env.ExecuteWorkflow(Evaluate, inputOf(5))
	var result EvaluateResult
	if err := env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	total := evaluation.Counts{Started: 50, Done: 50, Yes: 30, No: 15, Failed: 5}
	want := EvaluateResult{
		Report:   ref("report"),
		Progress: evaluation.Progress{Stage: "done", Total: 50, Counts: total, Finished: total},
	}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	checks := slices.Sorted(slices.Values(f.calls[:3]))
	if diff := cmp.Diff([]string{"CheckDetector", "CheckRecognizer", "CheckSpeech"}, checks); diff != "" {
		t.Errorf("first steps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"SaveEngines", "WriteReport"}, f.calls[3:]); diff != "" {
		t.Errorf("further steps (-want +got):\n%s", diff)
	}
	engines := evaluation.Engines{
		Speech:     speech.Engine{Name: "flite", Version: "2"},
		Recognizer: recognize.Engine{Name: "pocketsphinx"},
		Detector:   detect.Identity{Detector: "baseline-cascade"},
		NeedsWords: true,
		Seen:       ref("seen"),
	}
	if diff := cmp.Diff([]evaluation.Engines{engines}, f.engines); diff != "" {
		t.Errorf("engines (-want +got):\n%s", diff)
	}
	if c.most != 2 || len(c.started) != 5 {
		t.Errorf("%d chunks, %d at once; want 5, 2 at once", len(c.started), c.most)
	}
	for i, in := range c.started {
		want := ChunkInput{Evaluation: "e", Manifest: ref("manifest"), Engines: ref("engines"), Index: in.Index, Chunk: ref("chunk"), Dialogues: 3}
		if diff := cmp.Diff(want, in); diff != "" {
			t.Errorf("input of chunk %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestEvaluateChecksEnginesFirst(t *testing.T) {
	for _, check := range []string{"CheckSpeech", "CheckRecognizer", "CheckDetector"} {
		t.Run(check, func(t *testing.T) {
			f, c := newFakes(), &chunks{}
			f.fail[check] = temporal.NewNonRetryableApplicationError("not installed (run infra/setup.sh)", "engine_missing", nil)
			env := evaluateEnvironment(t, f, c)
			env.ExecuteWorkflow(Evaluate, inputOf(2))
			if err := env.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "run infra/setup.sh") {
				t.Errorf("error %v, want the cause and what to do", err)
			}
			if len(c.started) != 0 || f.count("SaveEngines")+f.count("WriteReport") != 0 {
				t.Errorf("%d chunks started, steps %q", len(c.started), f.calls)
			}
		})
	}
	t.Run("no synthesizer for clips that exist", func(t *testing.T) {
		f, c := newFakes(), &chunks{}
		env := evaluateEnvironment(t, f, c)
		in := inputOf(1)
		in.SpeechQueue = ""
		env.ExecuteWorkflow(Evaluate, in)
		if err := env.GetWorkflowError(); err != nil {
			t.Fatal(err)
		}
		if f.count("CheckSpeech") != 0 || len(f.engines) != 1 || f.engines[0].Speech != (speech.Engine{}) {
			t.Errorf("a synthesizer was asked: %q, %+v", f.calls, f.engines)
		}
	})
}

func TestEvaluateContinuesAsNew(t *testing.T) {
	f, c := newFakes(), &chunks{}
	env := evaluateEnvironment(t, f, c)
	c.on = map[int]func(){2: func() { env.SetCurrentHistoryLength(maxEvents + 1) }}
	env.ExecuteWorkflow(Evaluate, inputOf(5))

	next := continued(t, env)
	started := len(c.started)
	if c.inFlight != 0 || started < 3 || started == 5 {
		t.Fatalf("continues as new with %d of 5 chunks started, %d of them in flight", started, c.inFlight)
	}
	if next.Began.IsZero() {
		t.Error("the next run doesn't know when the evaluation began")
	}
	want := inputOf(5)
	want.Chunks, want.Next, want.Engines, want.Began = want.Chunks[started:], started, ref("engines"), next.Began
	want.Finished = evaluation.Counts{Started: 10 * started, Done: 10 * started, Yes: 6 * started, No: 3 * started, Failed: started}
	if diff := cmp.Diff(want, next); diff != "" {
		t.Errorf("input of the next run (-want +got):\n%s", diff)
	}
	if f.count("WriteReport") != 0 {
		t.Error("the report was written before the end")
	}

	// The next run takes up from there and asks no engine again.
	second := evaluateEnvironment(t, f, c)
	second.ExecuteWorkflow(Evaluate, next)
	var result EvaluateResult
	if err := second.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	if result.Progress.Done != 50 || f.count("CheckDetector") != 1 || f.count("WriteReport") != 1 {
		t.Errorf("%d of 50 done, steps %q", result.Progress.Done, f.calls)
	}
	var indices []int
	for _, in := range c.started {
		indices = append(indices, in.Index)
	}
	slices.Sort(indices)
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4}, indices); diff != "" {
		t.Errorf("chunks of both runs (-want +got):\n%s", diff)
	}
}

// continued returns the input that a workflow continues with.
func continued(t *testing.T, env *testsuite.TestWorkflowEnvironment) EvaluateInput {
	t.Helper()
	var again *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &again) {
		t.Fatalf("the workflow ended with %v, want that it continues as new", err)
	}
	var next EvaluateInput
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &next); err != nil {
		t.Fatal(err)
	}
	return next
}

func TestEvaluateCompletesWithLongHistory(t *testing.T) {
	f, c := newFakes(), &chunks{}
	env := evaluateEnvironment(t, f, c)
	c.on = map[int]func(){1: func() { env.SetContinueAsNewSuggested(true) }}
	env.ExecuteWorkflow(Evaluate, inputOf(2))
	if err := env.GetWorkflowError(); err != nil {
		t.Errorf("ended with %v though nothing was left to do", err)
	}
}

func TestEvaluateCancelled(t *testing.T) {
	for _, test := range []struct {
		name string
		long bool // the history is long too, which must not hide the cancellation
	}{{"short history", false}, {"long history", true}} {
		t.Run(test.name, func(t *testing.T) {
			f, c := newFakes(), &chunks{}
			env := evaluateEnvironment(t, f, c)
			c.on = map[int]func(){2: func() {
				if test.long {
					env.SetContinueAsNewSuggested(true)
				}
				env.CancelWorkflow()
			}}
			env.ExecuteWorkflow(Evaluate, inputOf(5))
			if err := env.GetWorkflowError(); !temporal.IsCanceledError(err) {
				t.Errorf("error %v, want that it is cancelled", err)
			}
			if c.inFlight != 0 || len(c.started) > 3 {
				t.Errorf("%d chunks started, %d in flight at the end", len(c.started), c.inFlight)
			}
			if f.count("WriteReport") != 1 {
				t.Error("a cancelled evaluation doesn't report what it has")
			}
		})
	}
}

// Chunks that are done when the cancellation reaches them end well; the
// evaluation is cancelled all the same.
func TestEvaluateCancelledBetweenChunks(t *testing.T) {
	for _, long := range []bool{false, true} {
		f, c := newFakes(), &chunks{}
		env := environment(t, f)
		deaf := func(ctx workflow.Context, in ChunkInput) (evaluation.Counts, error) {
			env.SetContinueAsNewSuggested(long)
			env.CancelWorkflow()
			quiet, cancel := workflow.NewDisconnectedContext(ctx)
			defer cancel()
			return c.run(quiet, in)
		}
		env.RegisterWorkflowWithOptions(deaf, workflow.RegisterOptions{Name: "EvaluateChunk"})
		in := inputOf(3)
		in.Limits.Chunks = 1
		env.ExecuteWorkflow(Evaluate, in)
		if err := env.GetWorkflowError(); !temporal.IsCanceledError(err) {
			t.Errorf("long history %v: error %v, want that it is cancelled", long, err)
		}
		if len(c.started) != 1 {
			t.Errorf("long history %v: %d chunks started, want 1", long, len(c.started))
		}
	}
}

func TestEvaluateBrokenChunk(t *testing.T) {
	f := newFakes()
	c := &chunks{fail: map[int]error{0: temporal.NewNonRetryableApplicationError("object not found", "object_not_found", nil)}}
	env := evaluateEnvironment(t, f, c)
	env.ExecuteWorkflow(Evaluate, inputOf(5))
	if err := env.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "object not found") {
		t.Errorf("error %v, want the chunk's", err)
	}
	if len(c.started) != 2 || c.inFlight != 0 || f.count("WriteReport") != 1 {
		t.Errorf("%d chunks started, %d in flight, steps %q; want that no more start, both end and the report is written", len(c.started), c.inFlight, f.calls)
	}
}

// The progress of an evaluation adds the signals of the chunks in flight to the
// finished ones, and counts nothing twice.
func TestEvaluateProgress(t *testing.T) {
	f, c := newFakes(), &chunks{}
	env := evaluateEnvironment(t, f, c)
	var seen []evaluation.Progress
	look := func() {
		value, err := env.QueryWorkflow(evaluation.QueryProgress)
		if err != nil {
			t.Error(err)
			return
		}
		var p evaluation.Progress
		if err := value.Get(&p); err != nil {
			t.Error(err)
			return
		}
		seen = append(seen, p)
	}
	signal := func(index, done int) {
		env.SignalWorkflow(evaluation.SignalProgress, ChunkProgress{Index: index, Counts: evaluation.Counts{Started: 10, Done: done, No: done}})
	}
	env.RegisterDelayedCallback(func() { signal(1, 5) }, 30*time.Second)
	env.RegisterDelayedCallback(look, 40*time.Second) // chunks 0 and 1 in flight
	// Chunk 0 ends after a minute.
	env.RegisterDelayedCallback(func() { signal(0, 5) }, 70*time.Second) // too late: it is finished
	env.RegisterDelayedCallback(look, 80*time.Second)
	env.ExecuteWorkflow(Evaluate, inputOf(2))
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}

	finished := evaluation.Counts{Started: 10, Done: 10, Yes: 6, No: 3, Failed: 1}
	want := []evaluation.Progress{
		{Stage: "evaluating", Total: 20, Counts: evaluation.Counts{Started: 10, Done: 5, No: 5}, Live: []string{"e/chunk-00000", "e/chunk-00001"}},
		{Stage: "evaluating", Total: 20, Counts: evaluation.Counts{Started: 20, Done: 15, Yes: 6, No: 8, Failed: 1}, Finished: finished, Live: []string{"e/chunk-00001"}},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

// The whole tree at once: a dialogue that fails is counted, and fails neither
// its chunk nor the evaluation.
func TestEvaluateTree(t *testing.T) {
	f := newFakes()
	f.chunks["chunk"] = evaluation.Chunk{Items: []evaluation.Item{{ID: "a"}, {ID: "b"}, {ID: "c"}}}
	f.fail["ComposeClip"] = temporal.NewNonRetryableApplicationError("no turn has anything audible", "bad_input", nil)
	f.on["ComposeClip"] = func() { // the first dialogue's only
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.fail, "ComposeClip")
	}
	env := environment(t, f)
	env.RegisterWorkflow(EvaluateChunk)
	env.RegisterWorkflow(EvaluateDialogue)
	in := inputOf(1)
	in.Items, in.Limits.Dialogues = 3, 1
	env.ExecuteWorkflow(Evaluate, in)
	var result EvaluateResult
	if err := env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	counts := result.Progress.Counts
	counts.Usage = evaluation.Usage{}
	if diff := cmp.Diff(evaluation.Counts{Started: 3, Done: 3, Yes: 2, Failed: 1}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	failed := slices.DeleteFunc(slices.Clone(f.records), func(r activities.RecordTask) bool { return r.Failure == nil })
	if len(f.records) != 3 || len(failed) != 1 || failed[0].Failure.Stage != "composing the clip" || failed[0].Verdict.Verdict != "" {
		t.Errorf("%d records, failed %+v", len(f.records), failed)
	}
	for _, r := range f.records {
		if r.Failure == nil && r.Verdict.Verdict != vote.Yes {
			t.Errorf("verdict of %s is %s", r.Task.Item.ID, r.Verdict.Verdict)
		}
	}
}

func TestSearchAttributes(t *testing.T) {
	got := searchAttributes(map[string]string{"B": "2", "A": "1"})
	for name, want := range map[string]string{"A": "1", "B": "2"} {
		if value, ok := got.GetKeyword(temporal.NewSearchAttributeKeyKeyword(name)); !ok || value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
	if got.Size() != 2 || searchAttributes(nil).Size() != 0 {
		t.Errorf("%d attributes of two, %d of none", got.Size(), searchAttributes(nil).Size())
	}
}
