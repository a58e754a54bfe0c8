package main

import (
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/workflows"
)

// wiring puts ports into activities, and activities onto queues.
type wiring struct {
	settings settings
	library  *activities.Library
	once     activities.Once
	chat     config.Chat
	eleven   config.ElevenLabs
}

// workers returns one worker a queue, not yet started, and the queues' names.
func (w wiring) workers(c client.Client, options worker.Options) ([]worker.Worker, []string, error) {
	var workers []worker.Worker
	var queues []string
	for _, role := range w.settings.roles {
		queue, register, slots, err := w.role(role)
		if err != nil {
			return nil, nil, err
		}
		roleOptions := options
		if role != "workflows" {
			// A machine lent for speech or a GPU takes no workflow tasks.
			roleOptions.DisableWorkflowWorker = true
			roleOptions.MaxConcurrentActivityExecutionSize = slots
		}
		added := worker.New(c, queue, roleOptions)
		register(added)
		workers = append(workers, added)
		queues = append(queues, queue)
	}
	return workers, queues, nil
}

// role returns a role's queue, what it registers there, and how many of its
// activities run at once.
func (w wiring) role(role string) (queue string, register func(worker.Worker), slots int, err error) {
	switch role {
	case "workflows":
		return evaluation.QueueMain, func(to worker.Worker) {
			workflows.Register(to)
			to.RegisterActivity(&activities.Planner{Library: w.library})
			to.RegisterActivity(&activities.Records{Library: w.library})
		}, 0, nil
	case "speech":
		synthesizer, err := synthesizer(w.settings.synthesizer, w.eleven)
		if err != nil {
			return "", nil, 0, err
		}
		part := &activities.Speech{Library: w.library, Once: w.once, Synthesizer: synthesizer}
		return evaluation.SpeechQueue(w.settings.synthesizer), func(to worker.Worker) { to.RegisterActivity(part) }, w.settings.concurrency.speech, nil
	case "audio":
		part := &activities.Clips{Library: w.library, Once: w.once, Recognizer: recognizer(), Software: software()}
		return evaluation.QueueAudio, func(to worker.Worker) { to.RegisterActivity(part) }, w.settings.concurrency.audio, nil
	case "detect":
		part := &activities.Detection{Library: w.library, Once: w.once, Detectors: detectors(w.library.Archive.Store, w.chat)}
		return evaluation.DetectQueue(w.settings.accelerator, w.settings.pool), func(to worker.Worker) { to.RegisterActivity(part) }, w.settings.concurrency.detect, nil
	default:
		return "", nil, 0, fmt.Errorf("unknown role %q", role)
	}
}
