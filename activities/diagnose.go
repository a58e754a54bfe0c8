package activities

import (
	"context"
	"fmt"
	"math"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// Diagnosing activities look at what only this worker can see: its keys, its
// network, its programs. They have nothing spoken; a detector that asks a server asks
// it a few short questions. What doesn't work is a finding,
// not an error, so that nothing is tried again.

// DiagnoseStore checks the store from a worker that runs workflows.
func (r *Records) DiagnoseStore(ctx context.Context) (evaluation.Examined, error) {
	var e evaluation.Examined
	diagnoseStore(ctx, r.Library.Archive.Store, &e)
	return e, nil
}

// DiagnoseSpeech checks the synthesizer, its voices and its account.
func (s *Speech) DiagnoseSpeech(ctx context.Context, pool voice.Pool) (evaluation.Examined, error) {
	var e evaluation.Examined
	engine, err := s.Synthesizer.Engine(ctx)
	e.Add("speech engine", joined(engine.Name, engine.Model, engine.Version), err)
	if err == nil {
		e.Engine = engine
		e.Add("voices", fmt.Sprintf("%d of pool %s", len(pool.Voices), pool.Name), s.Synthesizer.Check(ctx, pool))
		if accountant, ok := s.Synthesizer.(speech.Accountant); ok {
			account, err := accountant.Account(ctx)
			if err == nil && account.Used >= account.Limit {
				err = fmt.Errorf("plan %s has nothing left: %d of %d used%s; raise the plan, or wait", account.Plan, account.Used, account.Limit, resets(account))
			}
			e.Add("speech account", fmt.Sprintf("plan %s, %d of %d used, %d left%s", account.Plan, account.Used, account.Limit, account.Limit-account.Used, resets(account)), err)
		}
	}
	diagnoseStore(ctx, s.Library.Archive.Store, &e)
	return e, nil
}

func resets(a speech.Account) string {
	if a.Resets.IsZero() {
		return ""
	}
	return ", begins again on " + a.Resets.UTC().Format(time.DateOnly)
}

// DiagnoseClips checks the recogniser.
func (c *Clips) DiagnoseClips(ctx context.Context) (evaluation.Examined, error) {
	var e evaluation.Examined
	engine, err := c.Recognizer.Engine(ctx)
	e.Add("recogniser", joined(engine.Name, engine.Model, engine.Version), err)
	diagnoseStore(ctx, c.Library.Archive.Store, &e)
	return e, nil
}

// DiagnoseDetector checks the detector and, where it has servers, what they can do.
func (d *Detection) DiagnoseDetector(ctx context.Context, spec evaluation.Spec) (evaluation.Examined, error) {
	var e evaluation.Examined
	detector, err := d.Detectors(ctx, d.wanted(spec, objectstore.Ref{}, false))
	var identity detect.Identity
	if err == nil {
		identity, err = detector.Identity(ctx)
	}
	e.Add("detector", joined(identity.Detector, identity.Model, identity.Fingerprint), err)
	if prober, ok := detector.(detect.Prober); ok && err == nil {
		facts, err := prober.Facts(ctx)
		if err != nil {
			e.Add("detector's server", "", err)
		}
		for _, f := range facts {
			e.Add("detector's "+f.Name, f.Value, nil)
		}
		if err == nil {
			_, err := detector.Prepare(ctx, trial(spec.Detection.Modality))
			e.Add("trial question", "answered, modality "+string(spec.Detection.Modality), err)
		}
	}
	diagnoseStore(ctx, d.Library.Archive.Store, &e)
	return e, nil
}

// trial is an item of half a second, for a detector that asks a server: one that can't
// judge the modality refuses it.
func trial(modality detect.Modality) detect.Item {
	item := detect.Item{ID: "trial", Modality: modality}
	switch modality {
	case detect.Text:
		item.Turns = []dialogue.Turn{{Speaker: "Person1", Text: "Good morning."}}
	case detect.ASR:
		item.Transcript = func(context.Context) (recognize.Transcript, error) {
			return recognize.Transcript{Words: []recognize.Word{{Text: "good"}, {Text: "morning"}}}, nil
		}
	default:
		item.Modality = detect.Audio
		item.Audio = func(context.Context) (audio.PCM, error) {
			tone := audio.PCM{Rate: 16000, Samples: make([]float32, 8000)}
			for i := range tone.Samples {
				tone.Samples[i] = float32(0.2 * math.Sin(2*math.Pi*440*float64(i)/16000))
			}
			return tone, nil
		}
	}
	return item
}

func joined(parts ...string) string {
	text := ""
	for _, part := range parts {
		if part != "" && text != "" {
			text += " "
		}
		text += part
	}
	return text
}

// diagnoseStore writes, reads and deletes a small object.
func diagnoseStore(ctx context.Context, store objectstore.Store, e *evaluation.Examined) {
	info := activity.GetInfo(ctx)
	key := evaluation.DiagnosisKey(info.WorkflowExecution.RunID + "-" + info.ActivityID)
	e.Add("store", "written and read", objectstore.Try(ctx, store, key))
}
