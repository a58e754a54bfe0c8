// Package workflows is the Temporal workflow code of an evaluation: it decides
// what is done next, calls activities, and votes.
package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// EvaluateInput starts an evaluation whose manifest is stored.
type EvaluateInput struct {
	Evaluation string            `json:"evaluation"`
	Manifest   objectstore.Ref   `json:"manifest"`
	Chunks     []objectstore.Ref `json:"chunks"` // those still to do
	Items      int               `json:"items"`  // in all chunks of the evaluation
	Limits     evaluation.Limits `json:"limits"`

	SpeechQueue string            `json:"speech_queue,omitempty"` // "" when nothing is synthesised
	DetectQueue string            `json:"detect_queue"`
	Attributes  map[string]string `json:"attributes,omitempty"` // search attributes of every workflow of the tree

	Exemplars []evaluation.Item `json:"exemplars,omitempty"` // to be rendered before the detector is checked
	Shown     bool              `json:"shown,omitempty"`     // prompts show exemplars

	Prices    evaluation.Prices `json:"prices,omitzero"`
	Budget    evaluation.Budget `json:"budget,omitzero"`
	Estimates []evaluation.Cost `json:"estimates,omitempty"` // of Chunks, where there is a budget

	Settings evaluation.Settings `json:"settings,omitzero"` // to be shown

	// Carried over continue-as-new:
	Began      time.Time         `json:"began,omitzero"` // the first run
	Engines    objectstore.Ref   `json:"engines,omitzero"`
	Next       int               `json:"next,omitempty"` // index of Chunks[0] among all chunks
	Finished   evaluation.Counts `json:"finished,omitzero"`
	Generation int               `json:"generation,omitempty"` // resumptions so far
	Paused     *evaluation.Pause `json:"paused,omitempty"`
	Excused    int               `json:"excused,omitempty"` // failures up to the last resumption
}

// EvaluateResult is what an evaluation ends with.
type EvaluateResult struct {
	Progress evaluation.Progress `json:"progress"`
	Report   objectstore.Ref     `json:"report"`
}

// maxEvents is where a run's history is long enough for the Web UI; the next
// run begins when no chunk is in flight.
const maxEvents = 1500

// Evaluate checks the engines, evaluates chunk after chunk, a few at once, and
// writes the report. It fails only when the engines can't be used: a dialogue
// that fails is a named failure in the report. While a person must act it stands
// still.
func Evaluate(ctx workflow.Context, in EvaluateInput) (EvaluateResult, error) {
	e := evaluate{in: in, live: map[int]*liveChunk{}}
	if err := workflow.SetQueryHandler(ctx, evaluation.QueryProgress, func() (evaluation.Progress, error) { return e.progress(), nil }); err != nil {
		return EvaluateResult{}, err
	}
	if err := workflow.SetQueryHandler(ctx, evaluation.QuerySettings, func() (evaluation.Settings, error) { return e.in.Settings, nil }); err != nil {
		return EvaluateResult{}, err
	}
	if in.Began.IsZero() {
		e.in.Began = workflow.GetInfo(ctx).WorkflowStartTime
	}
	workflow.Go(ctx, e.listen)
	if in.Engines.IsZero() {
		engines, err := e.checkEngines(ctx)
		if err != nil {
			return EvaluateResult{Progress: e.progress()}, err
		}
		e.in.Engines = engines
	}
	e.stage(ctx, "evaluating")
	err := e.runChunks(ctx)
	if err == nil && len(e.in.Chunks) > 0 {
		return EvaluateResult{}, workflow.NewContinueAsNewError(ctx, Evaluate, e.in)
	}
	e.in.Paused = nil // nothing is left to stand still
	e.stage(ctx, "writing the report")
	result := EvaluateResult{}
	write := func(ctx workflow.Context) workflow.Future {
		return workflow.ExecuteActivity(mainOptions(ctx, "report"), (*activities.Records)(nil).WriteReport, in.Evaluation)
	}
	broken := err != nil
	if !broken {
		err = waiter(e.wait).one(ctx, func() workflow.Future { return write(ctx) }, &result.Report)
	}
	if broken || temporal.IsCanceledError(err) {
		// A cancelled evaluation reports what it has.
		patient, cancel := workflow.NewDisconnectedContext(ctx)
		defer cancel()
		_ = write(patient).Get(patient, &result.Report) // what broke it is told
	}
	e.stage(ctx, "done")
	result.Progress = e.progress()
	return result, err
}

type evaluate struct {
	in        EvaluateInput
	live      map[int]*liveChunk // by index
	exemplars []string           // workflow ids of those being rendered
	at        string             // the stage
	failed    error              // of a chunk
}

// liveChunk is a chunk in flight.
type liveChunk struct {
	counts  evaluation.Counts // as last signalled
	granted evaluation.Cost   // where there is a budget
	missing *evaluation.Cost  // what it asks for beyond that; nil when it doesn't
}

// progress adds the chunks in flight to the finished ones.
func (e *evaluate) progress() evaluation.Progress {
	p := evaluation.Progress{Stage: e.at, Total: e.in.Items, Counts: e.in.Finished, Paused: e.in.Paused, Finished: e.in.Finished}
	for _, index := range workflow.DeterministicKeys(e.live) {
		p.Counts.Add(e.live[index].counts)
		p.Live = append(p.Live, evaluation.ChunkWorkflowID(e.in.Evaluation, index))
	}
	return p
}

func (e *evaluate) stage(ctx workflow.Context, stage string) {
	e.at = stage
	e.show(ctx)
}

func (e *evaluate) show(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, progressDetails(e.progress(), workflow.Now(ctx).Sub(e.in.Began), e.in.Prices))
}

// runChunks runs the chunks until all are done, or until the history is long:
// then it stops admitting and returns once none is in flight, with the rest in
// e.in.Chunks.
func (e *evaluate) runChunks(ctx workflow.Context) error {
	for ctx.Err() == nil && e.failed == nil && len(e.in.Chunks) > 0 && !historyIsLong(ctx) {
		admits := func() bool {
			return e.in.Paused == nil && len(e.live) < e.in.Limits.Chunks && (e.affords() || len(e.live) == 0)
		}
		if err := workflow.Await(ctx, func() bool { return admits() || e.failed != nil || historyIsLong(ctx) }); err != nil {
			break
		}
		if admits() && e.failed == nil && !historyIsLong(ctx) {
			e.startChunk(ctx)
		}
	}
	// A cancellation reaches the chunks by itself; they are waited for.
	patient, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if err := workflow.Await(patient, func() bool { return len(e.live) == 0 }); err != nil {
		return err
	}
	if e.failed == nil && len(e.in.Chunks) > 0 {
		e.drain(ctx)
		return ctx.Err() // a cancellation must not be lost to the next run
	}
	return e.failed
}

func historyIsLong(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > maxEvents
}

func (e *evaluate) startChunk(ctx workflow.Context) {
	index, chunk, estimate := e.in.Next, e.in.Chunks[0], e.nextEstimate()
	e.in.Next, e.in.Chunks = index+1, e.in.Chunks[1:]
	input := ChunkInput{
		Evaluation: e.in.Evaluation,
		Manifest:   e.in.Manifest,
		Engines:    e.in.Engines,
		Index:      index,
		Chunk:      chunk,
		Dialogues:  e.in.Limits.Dialogues,
		Attributes: e.in.Attributes,
		Generation: e.in.Generation,
		Failures:   e.in.Limits.Failures > 0,
	}
	live := &liveChunk{}
	if !e.in.Budget.IsZero() {
		grant := estimate.Min(e.ungranted())
		live.granted, input.Grant, input.Prices = grant, &grant, e.in.Prices
	}
	e.live[index] = live
	workflow.Go(ctx, func(ctx workflow.Context) {
		id := evaluation.ChunkWorkflowID(e.in.Evaluation, index)
		options := childOptions(ctx, id, fmt.Sprintf("chunk %d of %s", index, e.in.Evaluation), searchAttributes(e.in.Attributes))
		var counts evaluation.Counts
		if err := workflow.ExecuteChildWorkflow(options, EvaluateChunk, input).Get(ctx, &counts); err != nil {
			counts = live.counts // cancelled or terminated: its last signal is what is known of it
			e.failed = err
		}
		e.in.Finished.Add(counts)
		delete(e.live, index)
		e.grant(ctx)
		e.checkFailures(ctx)
		e.show(ctx)
	})
}

// searchAttributes types the attributes; in the order of the keys, as map order
// must not decide.
func searchAttributes(values map[string]string) temporal.SearchAttributes {
	var updates []temporal.SearchAttributeUpdate
	for _, name := range workflow.DeterministicKeys(values) {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(name).ValueSet(values[name]))
	}
	return temporal.NewSearchAttributes(updates...)
}
