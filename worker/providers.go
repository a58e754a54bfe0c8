package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/recognize/pocketsphinx"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/speech/flite"
	"github.com/speechmanip/speechmanip/internal/speech/rhvoice"
)

// This file is the one room that knows which engines and vendors there are.

func synthesizerNames() []string { return []string{flite.Name, rhvoice.Name} }

func synthesizer(name string) (speech.Synthesizer, error) {
	switch name {
	case flite.Name:
		return flite.New(""), nil
	case rhvoice.Name:
		return rhvoice.New(rhvoice.Options{}), nil
	default:
		return nil, fmt.Errorf("unknown synthesizer %q: use one of %s", name, strings.Join(synthesizerNames(), ", "))
	}
}

func recognizer() recognize.Recognizer { return pocketsphinx.New(pocketsphinx.Options{}) }

// maxModels bounds the models that a worker keeps in memory; each evaluation
// uses one.
const maxModels = 4

// detectors returns how detectors are found: a baseline is a model file in the
// store, loaded once.
func detectors(store objectstore.Store) activities.Detectors {
	var mu sync.Mutex
	loaded := map[string]*baseline.Model{}
	return func(ctx context.Context, spec evaluation.Detection) (detect.Detector, error) {
		if !slices.Contains(baseline.Names(), spec.Detector) {
			return nil, fault.Permanentf("find detector", "unknown_detector", "no detector %q here: use one of %s", spec.Detector, strings.Join(baseline.Names(), ", "))
		}
		mu.Lock()
		defer mu.Unlock()
		model, ok := loaded[spec.Model.SHA256]
		if !ok {
			file, err := objectstore.Bytes(ctx, store, spec.Model)
			if err != nil {
				return nil, err
			}
			if model, err = baseline.Load(file); err != nil {
				return nil, &fault.Error{Kind: fault.Permanent, Op: "load model " + spec.Model.Key, Code: "bad_model", Err: err}
			}
			if len(loaded) >= maxModels {
				clear(loaded)
			}
			loaded[spec.Model.SHA256] = model
		}
		detector, err := baseline.New(model, spec.Detector)
		if err != nil {
			return nil, &fault.Error{Kind: fault.Permanent, Op: "find detector", Code: "bad_model", Err: err}
		}
		return detector, nil
	}
}

// software names this build in the clips that it composes.
func software() string {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return "speechmanip " + version
}
