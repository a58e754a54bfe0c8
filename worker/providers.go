package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/recognize/pocketsphinx"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/speech/elevenlabs"
	"github.com/speechmanip/speechmanip/internal/speech/flite"
	"github.com/speechmanip/speechmanip/internal/speech/rhvoice"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// This file is the one room that knows which engines and vendors there are.

func synthesizerNames() []string { return []string{elevenlabs.Name, flite.Name, rhvoice.Name} }

// engineNames are those that a worker may call.
func engineNames(s settings) []string {
	return append([]string{s.synthesizer, "pocketsphinx", chat.Name}, baseline.Names()...)
}

// isPaid reports whether a synthesizer's calls cost money.
func isPaid(synthesizer string) bool { return synthesizer == elevenlabs.Name }

func synthesizer(name string, account config.ElevenLabs) (speech.Synthesizer, error) {
	switch name {
	case elevenlabs.Name:
		if account.Key == "" {
			return keyless{}, nil
		}
		return elevenlabs.New(elevenlabs.Config{BaseURL: account.URL, APIKey: account.Key})
	case flite.Name:
		return flite.New(""), nil
	case rhvoice.Name:
		return rhvoice.New(rhvoice.Options{}), nil
	default:
		return nil, fmt.Errorf("unknown synthesizer %q: use one of %s", name, strings.Join(synthesizerNames(), ", "))
	}
}

// keyless stands in for ElevenLabs in a worker that was given no key: evaluations
// wait, with the reason to be seen, until a worker has one.
type keyless struct{}

func (keyless) fault() error {
	return &fault.Error{
		Kind: fault.Pause, Op: "speak with " + elevenlabs.Name, Code: "no_key", Err: errors.New("this worker has no API key"),
		Hint: fmt.Sprintf("set %s for the workers of queue %s, restart them, then resume", config.EnvElevenKey, evaluation.SpeechQueue(elevenlabs.Name)),
	}
}

// Engine fails.
func (k keyless) Engine(context.Context) (speech.Engine, error) { return speech.Engine{}, k.fault() }

// Check fails.
func (k keyless) Check(context.Context, voice.Pool) error { return k.fault() }

// Synthesize fails.
func (k keyless) Synthesize(context.Context, speech.Request) (speech.Speech, error) {
	return speech.Speech{}, k.fault()
}

func recognizer() recognize.Recognizer { return pocketsphinx.New(pocketsphinx.Options{}) }

// maxDetectors bounds the detectors that a worker keeps in memory; each
// evaluation uses one.
const maxDetectors = 4

// detectors returns how detectors are found. One that is loaded or probed is
// kept: a baseline's model is a file in the store, a chat server is probed once.
func detectors(store objectstore.Store, server config.Chat) activities.Detectors {
	var mu sync.Mutex
	kept := map[string]detect.Detector{}
	return func(ctx context.Context, w activities.Wanted) (detect.Detector, error) {
		key, err := json.Marshal([]any{w.Spec.Detection, w.Spec.Rules, w.Order, w.Exemplars})
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		if detector, ok := kept[string(key)]; ok && !w.Anew {
			return detector, nil
		}
		detector, err := newDetector(ctx, store, server, w)
		if err != nil {
			return nil, err
		}
		if len(kept) >= maxDetectors {
			clear(kept)
		}
		kept[string(key)] = detector
		return detector, nil
	}
}

func newDetector(ctx context.Context, store objectstore.Store, server config.Chat, w activities.Wanted) (detect.Detector, error) {
	spec := w.Spec
	name := spec.Detection.Detector
	switch {
	case name == chat.Name:
		return newChat(ctx, server, w)
	case slices.Contains(baseline.Names(), name):
		file, err := objectstore.Bytes(ctx, store, spec.Detection.Model)
		if err != nil {
			return nil, err
		}
		model, err := baseline.Load(file)
		if err != nil {
			return nil, permanent("load model "+spec.Detection.Model.Key, "bad_model", err)
		}
		detector, err := baseline.New(model, name)
		if err != nil {
			return nil, permanent("find detector", "bad_model", err)
		}
		return detector, nil
	default:
		return nil, fault.Permanentf("find detector", "unknown_detector", "no detector %q here: use %s, %s", name, chat.Name, strings.Join(baseline.Names(), ", "))
	}
}

func newChat(ctx context.Context, server config.Chat, w activities.Wanted) (detect.Detector, error) {
	spec := w.Spec
	if len(server.URLs) == 0 {
		return nil, fault.Permanentf("find detector", "no_server", "this worker has no chat server: set %s for the workers of queue %s", config.EnvChatURL, spec.Detection.Queue())
	}
	exemplars, err := w.Load(ctx)
	if err != nil {
		return nil, err
	}
	var shown []chat.Exemplar
	for _, e := range exemplars {
		shown = append(shown, chat.Exemplar{Exemplar: e.Exemplar, Turns: e.Turns, Clip: e.Clip})
	}
	detector, err := chat.New(chat.Config{
		BaseURLs: server.URLs,
		APIKey:   server.Key,
		KeyName:  config.EnvChatKey,
		Dialect:  chat.Dialect(server.Dialect),
		Model:    spec.Detection.ModelName,
		Strategy: spec.Detection.Strategy,
		Order:    prompt.Order(w.Order),
		Rules:    spec.Rules,

		Exemplars: shown,
	})
	if err != nil {
		return nil, permanent("find detector", "bad_config", err)
	}
	return detector, nil
}

func permanent(op, code string, err error) error {
	return &fault.Error{Kind: fault.Permanent, Op: op, Code: code, Err: err}
}

// software names this build in the clips that it composes.
func software() string {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return "speechmanip " + version
}
