// Package rhvoice speaks turns with RHVoice, an offline speech engine whose
// English voices are in Debian's non-free component: chosen by the user only,
// never in place of another engine.
package rhvoice

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/speech/program"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// Name is the synthesizer's name in pools.
const Name = "rhvoice"

const (
	// nativeRate is the sample rate in Hz of the voices that pools relabel.
	nativeRate = 24000
	// reading changes with what this package does to a text or to the audio. It
	// is part of the engine's version, and so of the key of stored turn audio.
	reading = "reading 1"

	install = "install Debian's packages rhvoice and rhvoice-english, from its component non-free"
)

var params = []program.Number{ // rate and pitch in percent of the voice's own
	{Key: "rate", Min: 20, Max: 500, Whole: true},
	{Key: "pitch", Min: 50, Max: 200, Whole: true},
	{Key: program.RelabelKey, Min: 8000, Max: 48000, Whole: true},
}

// Options say where RHVoice is; empty ones stand for where Debian puts it.
type Options struct {
	Program string // the program RHVoice-test
	Voices  string // the folder with a folder for each voice
	Dpkg    string // the program dpkg-query, which knows the engine's version
}

// Synthesizer speaks with the program RHVoice-test. It is safe for concurrent
// use.
type Synthesizer struct {
	program, dpkg program.Engine
	folder        string

	mu     sync.Mutex
	engine speech.Engine // asked for once
	voices []string
}

var _ speech.Synthesizer = (*Synthesizer)(nil)

// New returns a synthesizer. It starts nothing yet.
func New(options Options) *Synthesizer {
	or := func(value, standard string) string {
		if value == "" {
			return standard
		}
		return value
	}
	return &Synthesizer{
		program: program.Engine{Name: Name, Path: or(options.Program, "RHVoice-test"), Install: install},
		dpkg:    program.Engine{Name: Name, Path: or(options.Dpkg, "dpkg-query"), Install: install},
		folder:  or(options.Voices, "/usr/share/RHVoice/voices"),
	}
}

// Engine returns the engine's identity. Its format is 16-bit mono WAV, each
// voice at a sample rate of its own.
func (s *Synthesizer) Engine(ctx context.Context) (speech.Engine, error) {
	engine, _, err := s.installed(ctx)
	return engine, err
}

// Check fails when a voice of the pool is not installed: the program would
// speak in another one without a word about it.
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
	file, err := s.program.Render(ctx, text, func(files program.Files) []string {
		p := req.Voice.Params
		return []string{"-p", p[program.VoiceKey], "-r", p["rate"], "-t", p["pitch"], "-o", files.Audio} // text: stdin
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

// installed finds the engine's version and English voices, once.
func (s *Synthesizer) installed(ctx context.Context) (speech.Engine, []string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.voices) > 0 {
		return s.engine, s.voices, nil
	}
	version, err := s.version(ctx)
	if err != nil {
		return speech.Engine{}, nil, err
	}
	voices, err := englishVoices(s.folder)
	if err != nil {
		return speech.Engine{}, nil, &fault.Error{
			Kind: fault.Permanent, Op: "list the voices of " + Name, Code: "engine_missing", Err: err, Hint: install,
		}
	}
	s.voices = voices
	s.engine = speech.Engine{Name: Name, Version: fmt.Sprintf("%s, %s", version, reading), Format: "wav_pcm16_mono"}
	return s.engine, s.voices, nil
}

// version asks the program and, as Debian's answers "none", the package manager
// for the engine's and the voices' packages.
func (s *Synthesizer) version(ctx context.Context) (string, error) {
	about, err := s.program.Output(ctx, "--version")
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(about, "version:")
	if version = strings.TrimSpace(version); version != "" && version != "none" {
		return version, nil
	}
	packages, err := s.dpkg.Output(ctx, "--show", "--showformat", "${Package} ${Version}\n", "librhvoice-core*", "rhvoice-english")
	if err != nil {
		return "", err
	}
	var installed []string
	for line := range strings.Lines(packages) {
		if line = strings.TrimSpace(line); strings.Contains(line, " ") { // else the name of one that is not installed
			installed = append(installed, line)
		}
	}
	if len(installed) == 0 {
		return "", fault.Permanentf("find the version of "+Name, "engine_unknown", "neither the program nor Debian's packages tell it")
	}
	slices.Sort(installed)
	return strings.Join(installed, ", "), nil
}

// englishVoices returns the names, in lower case, of the English voices in the
// folder: RHVoice ignores the case of a voice's name.
func englishVoices(folder string) ([]string, error) {
	infos, err := filepath.Glob(filepath.Join(folder, "*", "voice.info"))
	if err != nil {
		return nil, err
	}
	var voices []string
	for _, info := range infos {
		text, err := os.ReadFile(info)
		if err != nil {
			return nil, err
		}
		about := map[string]string{}
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			about[key] = value
		}
		if about["language"] == "English" && about["name"] != "" {
			voices = append(voices, strings.ToLower(about["name"]))
		}
	}
	if len(voices) == 0 {
		return nil, fmt.Errorf("no English voice is in %s", folder)
	}
	return voices, nil
}
