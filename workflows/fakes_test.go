package workflows

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// fakes stand in for every activity, by the names that they are registered
// under: they answer as a test says and note what was asked.
type fakes struct {
	plan   activities.Plan
	votes  []vote.Vote     // by pass
	top    tactic.Tactic   // the most probable option
	quotes []string        // by attempt
	stored map[string]bool // steps that find their result in the store
	chunks map[string]evaluation.Chunk

	otherVotes map[string][]vote.Vote // by condition, where they differ
	choice     vote.Nano
	own        string // the queue of the worker that prepares
	checked    activities.CheckTask

	fail    map[string]error  // by step, e.g. "SynthesizeTurn 2"
	on      map[string]func() // runs when a step begins
	mu      sync.Mutex
	calls   []string // steps in the order in which they began
	records []activities.RecordTask
	quoted  []activities.QuoteTask
	engines []evaluation.Engines
}

func newFakes() *fakes {
	return &fakes{
		plan: activities.Plan{
			Spoken: []int{0, 1, 3}, NeedsClip: true, NeedsWords: true,
			SpeechQueue: "speech-flite", DetectQueue: "detect-cpu-baseline", Rules: vote.Paper(),
			Modalities: []detect.Modality{detect.Audio},
		},
		votes:  []vote.Vote{vote.VoteYes, vote.VoteYes, vote.VoteYes, vote.VoteYes, vote.VoteNo},
		top:    tactic.Shaming,
		quotes: []string{"you always do this"},
		stored: map[string]bool{},
		chunks: map[string]evaluation.Chunk{},
		fail:   map[string]error{},
		on:     map[string]func(){},
	}
}

// environment runs workflows with the fakes for activities.
func environment(t *testing.T, f *fakes) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&activities.Attempts{}}})
	env.RegisterActivity(f)
	env.RegisterWorkflow(Evaluate)
	env.RegisterWorkflow(RenderDialogue)
	return env
}

type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

// step notes that a step begins, and returns how it ends.
func (f *fakes) step(name string, args ...any) (made bool, err error) {
	for _, a := range args {
		name += fmt.Sprintf(" %v", a)
	}
	f.mu.Lock()
	f.calls = append(f.calls, name)
	hook := f.on[name]
	made, err = !f.stored[name], f.fail[name]
	f.mu.Unlock()
	if hook != nil {
		hook()
	}
	return made, err
}

// count returns how many steps began whose name starts so.
func (f *fakes) count(prefix string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, c := range f.calls {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

// stages returns the steps' activities, each run of equal ones once.
func (f *fakes) stages() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var stages []string
	for _, c := range f.calls {
		name, _, _ := strings.Cut(c, " ")
		if len(stages) == 0 || stages[len(stages)-1] != name {
			stages = append(stages, name)
		}
	}
	return stages
}

func ref(key string) objectstore.Ref {
	return objectstore.Ref{Key: key, SHA256: "hash of " + key, Size: 1}
}

func (f *fakes) PlanDialogue(context.Context, evaluation.Task) (activities.Plan, error) {
	_, err := f.step("PlanDialogue")
	return f.plan, err
}

func (f *fakes) LoadChunk(_ context.Context, chunk objectstore.Ref) (evaluation.Chunk, error) {
	_, err := f.step("LoadChunk")
	return f.chunks[chunk.Key], err
}

func (f *fakes) SynthesizeTurn(_ context.Context, task activities.TurnTask) (activities.TurnResult, error) {
	made, err := f.step("SynthesizeTurn", task.Turn)
	if !made {
		return activities.TurnResult{}, err
	}
	return activities.TurnResult{Characters: 10, Made: true}, err
}

func (f *fakes) ComposeClip(context.Context, evaluation.Task) (activities.ClipResult, error) {
	_, err := f.step("ComposeClip")
	return activities.ClipResult{Clip: ref("clip"), Timeline: ref("timeline")}, err
}

func (f *fakes) RecognizeClip(context.Context, activities.ClipTask) (activities.StoredResult, error) {
	made, err := f.step("RecognizeClip")
	return activities.StoredResult{Ref: ref("transcript"), Made: made}, err
}

func (f *fakes) MeasureClip(context.Context, activities.ClipTask) (activities.StoredResult, error) {
	made, err := f.step("MeasureClip")
	return activities.StoredResult{Ref: ref("quality"), Made: made}, err
}

func (f *fakes) PrepareItem(_ context.Context, task activities.JudgeTask) (activities.PreparedResult, error) {
	made, err := f.step("PrepareItem" + condition(task))
	return activities.PreparedResult{StoredResult: storedAt("prepared"+condition(task), made), Queue: f.own}, err
}

func (f *fakes) DetectPass(_ context.Context, task activities.PassTask) (activities.PassResult, error) {
	name := condition(task.JudgeTask)
	made, err := f.step("DetectPass"+name, task.Index)
	votes := f.votes
	if others, ok := f.otherVotes[name]; ok {
		votes = others
	}
	pass := vote.Pass{Index: task.Index, Vote: votes[task.Index], Method: vote.Constrained}
	return activities.PassResult{Pass: pass, StoredResult: storedAt(fmt.Sprint("pass"+name, task.Index), made)}, err
}

// storedAt is an answer of the detector, which took one request unless it was
// stored before.
func storedAt(key string, made bool) activities.StoredResult {
	result := activities.StoredResult{Ref: ref(key), Made: made}
	if made {
		result.Requests = 1
	}
	return result
}

// condition tells the questions of one dialogue apart; "" is the clip with the
// letters in their usual order.
func condition(task activities.JudgeTask) string {
	name := ""
	if task.Modality != detect.Audio {
		name += "-" + string(task.Modality)
	}
	if task.Swapped {
		name += "-swapped"
	}
	return name
}

func (f *fakes) ChooseVotes(_ context.Context, task activities.JudgeTask) (activities.ChoiceResult, error) {
	made, err := f.step("ChooseVotes" + condition(task))
	return activities.ChoiceResult{Yes: f.choice, StoredResult: storedAt("choice"+condition(task), made)}, err
}

func (f *fakes) ScoreTactics(context.Context, activities.JudgeTask) (activities.TacticsResult, error) {
	made, err := f.step("ScoreTactics")
	masses := make([]vote.Mass, len(tactic.Options()))
	for i, option := range tactic.Options() {
		masses[i] = vote.Mass{P: 10_000_000, Observed: true}
		if option == f.top {
			masses[i].P = 500_000_000
		}
	}
	return activities.TacticsResult{Masses: masses, StoredResult: storedAt("tactics", made)}, err
}

func (f *fakes) QuoteEvidence(_ context.Context, task activities.QuoteTask) (activities.QuoteResult, error) {
	made, err := f.step("QuoteEvidence", task.Attempt)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.quoted = append(f.quoted, task)
	return activities.QuoteResult{StoredResult: storedAt(fmt.Sprint("quote", task.Attempt), made), Empty: f.quotes[task.Attempt] == ""}, err
}

func (f *fakes) SaveRecord(_ context.Context, task activities.RecordTask) (objectstore.Ref, error) {
	_, err := f.step("SaveRecord")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records = append(f.records, task)
	return ref("record"), err
}

func (f *fakes) CloseChunk(_ context.Context, _ string, chunk int) (objectstore.Ref, error) {
	_, err := f.step("CloseChunk", chunk)
	return ref("shard"), err
}

func (f *fakes) WriteReport(context.Context, string) (objectstore.Ref, error) {
	_, err := f.step("WriteReport")
	return ref("report"), err
}

func (f *fakes) SaveEngines(_ context.Context, _ string, engines evaluation.Engines) (objectstore.Ref, error) {
	_, err := f.step("SaveEngines")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.engines = append(f.engines, engines)
	return ref("engines"), err
}

func (f *fakes) CheckSpeech(context.Context, objectstore.Ref) (speech.Engine, error) {
	_, err := f.step("CheckSpeech")
	return speech.Engine{Name: "flite", Version: "2"}, err
}

func (f *fakes) CheckRecognizer(context.Context) (recognize.Engine, error) {
	_, err := f.step("CheckRecognizer")
	return recognize.Engine{Name: "pocketsphinx"}, err
}

func (f *fakes) SaveSpeaking(context.Context, string, evaluation.Engines) (objectstore.Ref, error) {
	_, err := f.step("SaveSpeaking")
	return ref("speaking"), err
}

func (f *fakes) SaveExemplars(_ context.Context, _ objectstore.Ref, clips []objectstore.Ref) (objectstore.Ref, error) {
	_, err := f.step("SaveExemplars", len(clips))
	return ref("exemplars"), err
}

func (f *fakes) CheckDetector(_ context.Context, task activities.CheckTask) (activities.DetectorCheck, error) {
	_, err := f.step("CheckDetector")
	f.checked = task
	return activities.DetectorCheck{Identity: detect.Identity{Detector: "baseline-cascade"}, NeedsWords: true, Seen: ref("seen")}, err
}
