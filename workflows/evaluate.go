// Package workflows is the Temporal workflow code of an evaluation: it decides
// what is done next, calls activities, and votes.
package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
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

	// Carried over continue-as-new:
	Engines  objectstore.Ref   `json:"engines,omitzero"`
	Next     int               `json:"next,omitempty"` // index of Chunks[0] among all chunks
	Finished evaluation.Counts `json:"finished,omitzero"`
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
// that fails is a named failure in the report.
func Evaluate(ctx workflow.Context, in EvaluateInput) (EvaluateResult, error) {
	e := evaluate{in: in, live: map[int]evaluation.Counts{}}
	if err := workflow.SetQueryHandler(ctx, evaluation.QueryProgress, func() (evaluation.Progress, error) { return e.progress(), nil }); err != nil {
		return EvaluateResult{}, err
	}
	if in.Engines.IsZero() {
		e.stage(ctx, "checking the engines")
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
	// A cancelled evaluation reports what it has.
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	e.stage(ctx, "writing the report")
	result := EvaluateResult{}
	if reportErr := workflow.ExecuteActivity(mainOptions(ctx, "report"), (*activities.Records)(nil).WriteReport, in.Evaluation).Get(ctx, &result.Report); err == nil {
		err = reportErr
	}
	e.stage(ctx, "done")
	result.Progress = e.progress()
	return result, err
}

type evaluate struct {
	in   EvaluateInput
	live map[int]evaluation.Counts // of the chunks in flight, by index, as last signalled
	at   string                    // the stage
}

// progress adds the chunks in flight to the finished ones.
func (e *evaluate) progress() evaluation.Progress {
	p := evaluation.Progress{Stage: e.at, Total: e.in.Items, Counts: e.in.Finished, Finished: e.in.Finished}
	for _, index := range workflow.DeterministicKeys(e.live) {
		p.Counts.Add(e.live[index])
		p.Live = append(p.Live, evaluation.ChunkWorkflowID(e.in.Evaluation, index))
	}
	return p
}

func (e *evaluate) stage(ctx workflow.Context, stage string) {
	e.at = stage
	workflow.SetCurrentDetails(ctx, progressDetails(e.progress()))
}

// checkEngines asks synthesizer, recogniser and detector who they are, before
// anything is rendered. Each waits for its own queue's workers.
func (e *evaluate) checkEngines(ctx workflow.Context) (objectstore.Ref, error) {
	var (
		spoken    speech.Engine
		listening recognize.Engine
		judging   activities.DetectorCheck
		speaking  workflow.Future
	)
	if e.in.SpeechQueue != "" {
		speaking = workflow.ExecuteActivity(checkOptions(ctx, e.in.SpeechQueue, "check voices"), (*activities.Speech)(nil).CheckSpeech, e.in.Manifest)
	}
	recognizer := workflow.ExecuteActivity(checkOptions(ctx, evaluation.QueueAudio, "check recogniser"), (*activities.Clips)(nil).CheckRecognizer)
	detector := workflow.ExecuteActivity(checkOptions(ctx, e.in.DetectQueue, "check detector"), (*activities.Detection)(nil).CheckDetector, e.in.Manifest)
	if speaking != nil {
		if err := speaking.Get(ctx, &spoken); err != nil {
			return objectstore.Ref{}, err
		}
	}
	if err := recognizer.Get(ctx, &listening); err != nil {
		return objectstore.Ref{}, err
	}
	if err := detector.Get(ctx, &judging); err != nil {
		return objectstore.Ref{}, err
	}
	engines := evaluation.Engines{
		Speech:     spoken,
		Recognizer: listening,
		Detector:   judging.Identity,
		NeedsWords: judging.NeedsWords,
		Seen:       judging.Seen,
	}
	var ref objectstore.Ref
	err := workflow.ExecuteLocalActivity(localOptions(ctx, "save engines"), (*activities.Records)(nil).SaveEngines, e.in.Evaluation, engines).Get(ctx, &ref)
	return ref, err
}

// runChunks runs the chunks until all are done, or until the history is long:
// then it stops admitting and returns once none is in flight, with the rest in
// e.in.Chunks.
func (e *evaluate) runChunks(ctx workflow.Context) error {
	var failed error
	selector := workflow.NewSelector(ctx)
	e.followProgress(ctx, selector)
	for {
		for failed == nil && len(e.in.Chunks) > 0 && len(e.live) < e.in.Limits.Chunks && !historyIsLong(ctx) {
			e.startChunk(ctx, selector, &failed)
		}
		if len(e.live) == 0 {
			if failed == nil && len(e.in.Chunks) > 0 {
				failed = ctx.Err() // a cancellation must not be lost to the next run
			}
			return failed
		}
		selector.Select(ctx)
		workflow.SetCurrentDetails(ctx, progressDetails(e.progress()))
	}
}

func historyIsLong(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > maxEvents
}

func (e *evaluate) startChunk(ctx workflow.Context, selector workflow.Selector, failed *error) {
	index, chunk := e.in.Next, e.in.Chunks[0]
	e.in.Next, e.in.Chunks = index+1, e.in.Chunks[1:]
	e.live[index] = evaluation.Counts{}
	id := evaluation.ChunkWorkflowID(e.in.Evaluation, index)
	options := childOptions(ctx, id, fmt.Sprintf("chunk %d of %s", index, e.in.Evaluation), searchAttributes(e.in.Attributes))
	future := workflow.ExecuteChildWorkflow(options, EvaluateChunk, ChunkInput{
		Evaluation: e.in.Evaluation,
		Manifest:   e.in.Manifest,
		Engines:    e.in.Engines,
		Index:      index,
		Chunk:      chunk,
		Dialogues:  e.in.Limits.Dialogues,
		Attributes: e.in.Attributes,
	})
	selector.AddFuture(future, func(f workflow.Future) {
		var counts evaluation.Counts
		if err := f.Get(ctx, &counts); err != nil {
			counts = e.live[index] // cancelled or terminated: its last signal is what is known of it
			*failed = err
		}
		e.in.Finished.Add(counts)
		delete(e.live, index)
	})
}

// followProgress takes the chunks' signals, a few each.
func (e *evaluate) followProgress(ctx workflow.Context, selector workflow.Selector) {
	selector.AddReceive(workflow.GetSignalChannel(ctx, evaluation.SignalProgress), func(c workflow.ReceiveChannel, _ bool) {
		var signal ChunkProgress
		c.Receive(ctx, &signal)
		if _, live := e.live[signal.Index]; live {
			e.live[signal.Index] = signal.Counts
		}
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
