package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/speech"
)

// checkEngines asks synthesizer, recogniser and detector who they are, before
// anything is rendered but the exemplars, which are part of what the detector
// says of itself. Each waits for its own queue's workers.
func (e *evaluate) checkEngines(ctx workflow.Context) (objectstore.Ref, error) {
	e.stage(ctx, "checking the engines")
	var engines evaluation.Engines
	if err := e.checkSpeaking(ctx, &engines); err != nil {
		return objectstore.Ref{}, err
	}
	if err := e.prepareExemplars(ctx, &engines); err != nil {
		return objectstore.Ref{}, err
	}
	task := activities.CheckTask{Manifest: e.in.Manifest, Exemplars: engines.Exemplars}
	var judging activities.DetectorCheck
	if err := waiter(e.wait).one(ctx, func() workflow.Future {
		return workflow.ExecuteActivity(checkOptions(ctx, e.in.DetectQueue, "check detector"), (*activities.Detection)(nil).CheckDetector, task)
	}, &judging); err != nil {
		return objectstore.Ref{}, err
	}
	engines.Detector, engines.Swapped = judging.Identity, judging.Swapped
	engines.NeedsWords, engines.SharesPrefix = judging.NeedsWords, judging.SharesPrefix
	engines.Seen, engines.Facts = judging.Seen, judging.Facts
	var ref objectstore.Ref
	err := waiter(e.wait).one(ctx, func() workflow.Future {
		return workflow.ExecuteLocalActivity(localOptions(ctx, "save engines"), (*activities.Records)(nil).SaveEngines, e.in.Evaluation, engines)
	}, &ref)
	return ref, err
}

// checkSpeaking identifies who speaks and who recognises.
func (e *evaluate) checkSpeaking(ctx workflow.Context, engines *evaluation.Engines) error {
	const voices, words = 0, 1
	checks := []int{words}
	if e.in.SpeechQueue != "" {
		checks = append(checks, voices)
	}
	return waiter(e.wait).do(ctx, checks, func(check int) workflow.Future {
		if check == voices {
			return workflow.ExecuteActivity(checkOptions(ctx, e.in.SpeechQueue, "check voices"), (*activities.Speech)(nil).CheckSpeech, e.in.Manifest)
		}
		return workflow.ExecuteActivity(checkOptions(ctx, evaluation.QueueAudio, "check recogniser"), (*activities.Clips)(nil).CheckRecognizer)
	}, func(check int, f workflow.Future) error {
		if check == voices {
			var spoken speech.Engine
			err := f.Get(ctx, &spoken)
			engines.Speech = spoken
			return err
		}
		return f.Get(ctx, &engines.Recognizer)
	})
}

// prepareExemplars renders the exemplars as the items are, where they have no
// clips and something is heard, and stores them.
func (e *evaluate) prepareExemplars(ctx workflow.Context, engines *evaluation.Engines) error {
	if !e.in.Shown {
		return nil
	}
	clips := make([]objectstore.Ref, len(e.in.Exemplars))
	if len(e.in.Exemplars) > 0 {
		e.stage(ctx, "rendering the exemplars")
		var speaking objectstore.Ref
		if err := waiter(e.wait).one(ctx, func() workflow.Future {
			return workflow.ExecuteLocalActivity(localOptions(ctx, "save speaking engines"), (*activities.Records)(nil).SaveSpeaking, e.in.Evaluation, *engines)
		}, &speaking); err != nil {
			return err
		}
		if err := e.renderExemplars(ctx, speaking, clips, &engines.Rendering); err != nil {
			return err
		}
	}
	return waiter(e.wait).one(ctx, func() workflow.Future {
		return workflow.ExecuteLocalActivity(localOptions(ctx, "save exemplars"), (*activities.Records)(nil).SaveExemplars, e.in.Manifest, clips)
	}, &engines.Exemplars)
}

func (e *evaluate) renderExemplars(ctx workflow.Context, speaking objectstore.Ref, clips []objectstore.Ref, took *evaluation.Usage) error {
	futures := make([]workflow.Future, len(e.in.Exemplars))
	for i, item := range e.in.Exemplars {
		id := evaluation.ExemplarWorkflowID(e.in.Evaluation, item.Name())
		e.exemplars = append(e.exemplars, id)
		options := childOptions(ctx, id, "exemplar "+evaluation.EncodeID(item.ID), searchAttributes(e.in.Attributes))
		futures[i] = workflow.ExecuteChildWorkflow(options, RenderDialogue, evaluation.Task{
			Evaluation: e.in.Evaluation,
			Manifest:   e.in.Manifest,
			Engines:    speaking,
			Item:       item,
			Generation: e.in.Generation,
		})
	}
	var failed []error
	for i, f := range futures {
		var rendered RenderResult
		if err := f.Get(ctx, &rendered); err != nil {
			failed = append(failed, err)
		}
		clips[i] = rendered.Clip
		took.Add(rendered.Usage)
		e.in.Finished.Usage.Add(rendered.Usage) // the budget's too
	}
	e.exemplars = nil
	return joined(failed)
}
