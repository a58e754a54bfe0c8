// Package flite speaks turns with CMU Flite, a small offline speech engine.
package flite

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/speech/program"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// Name is the synthesizer's name in pools.
const Name = "flite"

const (
	// nativeRate is the sample rate in Hz of the voices that pools relabel.
	nativeRate = 16000
	// reading changes with what this package does to a text or to the audio. It
	// is part of the engine's version, and so of the key of stored turn audio.
	reading = "reading 1"
)

var params = []program.Number{
	{Key: "duration_stretch", Min: 0.5, Max: 2},
	{Key: "int_f0_target_mean", Min: 40, Max: 400, Optional: true}, // Hz; some voices ignore it
	{Key: program.RelabelKey, Min: 8000, Max: 48000, Whole: true},
}

// Synthesizer speaks with the flite program. It is safe for concurrent use.
type Synthesizer struct {
	program program.Engine

	mu     sync.Mutex
	engine speech.Engine // asked for once
	voices []string
}

var _ speech.Synthesizer = (*Synthesizer)(nil)

// New returns a synthesizer that runs the program at path, or the one called
// flite on PATH when path is empty. It starts nothing yet.
func New(path string) *Synthesizer {
	if path == "" {
		path = "flite"
	}
	return &Synthesizer{program: program.Engine{
		Name: Name, Path: path, Install: "run infra/setup.sh, which installs Debian's package flite",
	}}
}

// Engine returns the engine's identity. Its format is 16-bit mono WAV, each
// voice at a sample rate of its own.
func (s *Synthesizer) Engine(ctx context.Context) (speech.Engine, error) {
	engine, _, err := s.installed(ctx)
	return engine, err
}

// Check fails when a voice of the pool is not compiled into the program, which
// would speak in its default voice without a word about it.
func (s *Synthesizer) Check(ctx context.Context, pool voice.Pool) error {
	_, voices, err := s.installed(ctx)
	if err != nil {
		return err
	}
	return s.program.CheckPool(pool, voices, params)
}

// Synthesize speaks one turn.
func (s *Synthesizer) Synthesize(ctx context.Context, req speech.Request) (speech.Speech, error) {
	text, err := s.program.CheckText(req.Text)
	if err != nil {
		return speech.Speech{}, err
	}
	_, voices, err := s.installed(ctx)
	if err != nil {
		return speech.Speech{}, err
	}
	if err := s.program.CheckVoice(req.Voice, voices, params); err != nil {
		return speech.Speech{}, err
	}
	text = readable(text)
	file, err := s.program.Render(ctx, text, func(files program.Files) []string {
		// The text is always a file: as an argument it would be taken for a
		// file's name or an option.
		args := []string{"-voice", req.Voice.Params[program.VoiceKey]}
		for _, key := range []string{"duration_stretch", "int_f0_target_mean"} {
			if value, ok := req.Voice.Params[key]; ok {
				args = append(args, "--setf", key+"="+value)
			}
		}
		return append(args, "-f", files.Text, "-o", files.Audio)
	})
	if err != nil {
		return speech.Speech{}, err
	}
	audio, err := s.program.Label(file, text, nativeRate, req.Voice)
	if err != nil {
		return speech.Speech{}, err
	}
	return speech.Speech{Audio: audio, Characters: utf8.RuneCountInString(req.Text)}, nil
}

var (
	versionLine = regexp.MustCompile(`version: flite-(\S+[^(\n]*)`)
	voicesLine  = regexp.MustCompile(`Voices available:([^\n]*)`)
)

// installed asks the program for its version and voices, once.
func (s *Synthesizer) installed(ctx context.Context) (speech.Engine, []string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.voices) > 0 {
		return s.engine, s.voices, nil
	}
	about, err := s.program.Output(ctx, "--version")
	if err != nil {
		return speech.Engine{}, nil, err
	}
	listing, err := s.program.Output(ctx, "-lv")
	if err != nil {
		return speech.Engine{}, nil, err
	}
	version, voices := versionLine.FindStringSubmatch(about), voicesLine.FindStringSubmatch(listing)
	if version == nil || voices == nil || len(strings.Fields(voices[1])) == 0 {
		return speech.Engine{}, nil, fault.Permanentf("run "+Name, "engine_unknown",
			"program %q does not answer like flite: %.80q, %.80q", s.program.Path, about, listing)
	}
	s.voices = strings.Fields(voices[1])
	s.engine = speech.Engine{
		Name:    Name,
		Version: fmt.Sprintf("%s, %s", strings.TrimSpace(version[1]), reading),
		Format:  "wav_pcm16_mono",
	}
	return s.engine, s.voices, nil
}
