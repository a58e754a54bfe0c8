package main

import (
	"fmt"
	"net/http"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/webhook"
	"github.com/speechmanip/speechmanip/workflows"
)

// wiring puts ports into activities, and activities onto queues.
type wiring struct {
	settings settings
	name     string // this process's, no other's
	leased   func(slots, ceiling int)
	library  *activities.Library
	once     activities.Once
	chat     config.Chat
	eleven   config.ElevenLabs
	webhooks map[string]webhook.Hook
	log      *zap.Logger
}

// part is what one queue needs of this process.
type part struct {
	queue     string
	own       bool // of this process alone
	workflows bool
	register  func(worker.Worker)
	slots     worker.SlotSupplier // of its activities; nil is the SDK's own
	pollers   int                 // for activities; 0 is the SDK's own
	lease     *lessee             // of slots; nil where it needs none
}

// cachedWorkflows is how many running workflows are kept in memory, fifteen times what
// an evaluation has at once by default: enough that few are replayed, and few enough
// that a worker stays small whatever runs (docs/scale.md).
const cachedWorkflows = 1000

// workers returns one worker a queue, not yet started, and the shared queues'
// names.
func (w wiring) workers(c client.Client, options worker.Options) ([]worker.Worker, []string, error) {
	worker.SetStickyWorkflowCacheSize(cachedWorkflows) // the process's, whatever its workers
	var workers []worker.Worker
	var queues []string
	for _, role := range w.settings.roles {
		parts, err := w.role(role, c)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range parts {
			added, err := p.worker(c, options)
			if err != nil {
				return nil, nil, err
			}
			workers = append(workers, added)
		}
		queues = append(queues, parts[0].queue) // a queue of this process's own concerns nobody else
	}
	return workers, queues, nil
}

func (p part) worker(c client.Client, options worker.Options) (worker.Worker, error) {
	options = p.options(options)
	if p.slots != nil {
		tuner, err := activityTuner(p.slots)
		if err != nil {
			return nil, err
		}
		options.Tuner = tuner
	}
	added := worker.New(c, p.queue, options)
	p.register(added)
	if p.lease != nil {
		return &leasedWorker{Worker: added, lessee: p.lease}, nil
	}
	return added, nil
}

// options adapts those of the process to the queue.
func (p part) options(of worker.Options) worker.Options {
	// A machine lent for speech or a GPU takes no workflow tasks.
	of.DisableWorkflowWorker = !p.workflows
	of.MaxConcurrentActivityTaskPollers = p.pollers
	if p.own {
		// What follows the process is of its version anyway, and Temporal keeps a list
		// of at most a hundred queues for each version, of ended processes too.
		of.DeploymentOptions = worker.DeploymentOptions{}
	}
	return of
}

// activityTuner gives slots to activities, and one each to the kinds of tasks that
// such a worker has none of.
func activityTuner(slots worker.SlotSupplier) (worker.WorkerTuner, error) {
	one, err := worker.NewFixedSizeSlotSupplier(1)
	if err != nil {
		return nil, err
	}
	return worker.NewCompositeTuner(worker.CompositeTunerOptions{
		WorkflowSlotSupplier: one, ActivitySlotSupplier: slots, LocalActivitySlotSupplier: one,
		NexusSlotSupplier: one, SessionActivitySlotSupplier: one,
	})
}

// role returns what a role does, queue by queue, the shared one first.
func (w wiring) role(role string, c client.Client) ([]part, error) {
	switch role {
	case "workflows":
		return []part{{queue: evaluation.QueueMain, workflows: true, register: func(to worker.Worker) {
			workflows.Register(to)
			to.RegisterActivity(&activities.Planner{Library: w.library})
			to.RegisterActivity(&activities.Records{Library: w.library})
			to.RegisterActivity(&activities.Scheduled{Library: w.library, Webhooks: w.webhooks, HTTP: http.DefaultClient, Now: time.Now})
			to.RegisterActivity(&activities.Studies{Library: w.library})
		}}}, nil
	case "speech":
		return w.speech(c)
	case "audio":
		clips := &activities.Clips{Library: w.library, Once: w.once, Recognizer: recognizer(), Software: software()}
		slots, err := worker.NewFixedSizeSlotSupplier(w.settings.concurrency.audio)
		return []part{{queue: evaluation.QueueAudio, register: registers(clips), slots: slots}}, err
	case "detect":
		return w.detect()
	default:
		return nil, fmt.Errorf("unknown role %q", role)
	}
}

func registers(activities any) func(worker.Worker) {
	return func(to worker.Worker) { to.RegisterActivity(activities) }
}

// speech speaks under a lease where calls count against an account: all workers of
// the account together make no more at once than it allows.
func (w wiring) speech(c client.Client) ([]part, error) {
	synthesizer, err := synthesizer(w.settings.synthesizer, w.eleven)
	if err != nil {
		return nil, err
	}
	queue := evaluation.SpeechQueue(w.settings.synthesizer)
	account, counts := synthesizer.(paid)
	if !counts {
		slots, err := worker.NewFixedSizeSlotSupplier(w.settings.concurrency.speech)
		return []part{{queue: queue, register: registers(w.speaker(synthesizer)), slots: slots}}, err
	}
	slots := newLeasedSlots(w.settings.concurrency.speech, w.settings.account.ceiling, w.settings.account.lease)
	lease := &lessee{name: w.name, slots: slots, lend: limiter(c, w.settings.account.name), leased: w.leased, log: w.log.Named("lease")}
	return []part{{queue: queue, register: registers(w.speaker(&limited{paid: account, slots: slots})), slots: slots, lease: lease}}, nil
}

func (w wiring) speaker(synthesizer speech.Synthesizer) *activities.Speech {
	return &activities.Speech{Library: w.library, Once: w.once, Synthesizer: synthesizer}
}

// detect polls the shared queue, and a queue of this process's own for what should
// follow what it has done before, as its server's cache is warm. Both share the
// slots. With one slot there is no queue of its own: the poll for it would hold
// the slot.
func (w wiring) detect() ([]part, error) {
	shared := evaluation.DetectQueue(w.settings.accelerator, w.settings.pool)
	detection := &activities.Detection{Library: w.library, Once: w.once, Detectors: detectors(w.library.Archive.Store, w.chat)}
	slots, err := worker.NewFixedSizeSlotSupplier(w.settings.concurrency.detect)
	if err != nil {
		return nil, err
	}
	parts := []part{{queue: shared, register: registers(detection), slots: slots}}
	if w.settings.concurrency.detect > 1 {
		detection.Affinity = shared + "@" + w.name
		parts = append(parts, part{queue: detection.Affinity, own: true, register: registers(detection), slots: slots, pollers: 1})
	}
	return parts, nil
}
