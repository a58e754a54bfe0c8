// Package elevenlabs speaks turns with ElevenLabs' text-to-speech service, over
// HTTP. Each call is paid, so none is made twice on a guess: whoever calls
// decides from the fault whether to try again.
package elevenlabs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/remote"
	"github.com/speechmanip/speechmanip/internal/secret"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// Name is the synthesizer's name in pools.
const Name = "elevenlabs"

// The defaults of Config.
const (
	DefaultBaseURL = "https://api.elevenlabs.io"
	DefaultModel   = "eleven_multilingual_v2"
	DefaultFormat  = "pcm_24000"
	DefaultTimeout = 50 * time.Second // a turn takes seconds; below the lifetime that callers grant
)

// Config says which account speaks, and how. How a voice speaks (its model,
// stability, speed and the like) is with the voice, in its pool.
type Config struct {
	BaseURL string // without /v1; "" is DefaultBaseURL
	APIKey  secret.Text
	Format  string        // one of Formats; "" is DefaultFormat
	Timeout time.Duration // of one call, its reply included; 0 is DefaultTimeout
	HTTP    *http.Client  // nil is one of its own
}

// limits holds, by model, the most characters that one request may have.
var limits = map[string]int{
	"eleven_multilingual_v2": 10000,
	"eleven_flash_v2_5":      40000,
	"eleven_turbo_v2_5":      40000,
	"eleven_flash_v2":        30000,
	"eleven_turbo_v2":        30000,
	"eleven_v3":              5000,
}

// rates holds, by format, the sample rate in Hz. The service has others; these
// lose nothing.
var rates = map[string]int{
	"pcm_8000": 8000, "pcm_16000": 16000, "pcm_22050": 22050, "pcm_24000": 24000,
	"pcm_32000": 32000, "pcm_44100": 44100, "pcm_48000": 48000,
}

// Models returns the models that can be chosen.
func Models() []string { return slices.Sorted(maps.Keys(limits)) }

// Formats returns the output formats that can be chosen.
func Formats() []string { return slices.Sorted(maps.Keys(rates)) }

// Synthesizer speaks with the service. It is safe for concurrent use.
type Synthesizer struct {
	client client
	format string
	rate   int // Hz
}

var (
	_ speech.Synthesizer = (*Synthesizer)(nil)
	_ speech.Accountant  = (*Synthesizer)(nil)
)

// New returns a synthesizer, or all that is wrong with its configuration. It
// calls nobody.
func New(c Config) (*Synthesizer, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.Format == "" {
		c.Format = DefaultFormat
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	client, problem := newClient(c)
	problems := []error{problem}
	if rates[c.Format] == 0 {
		problems = append(problems, fmt.Errorf("unknown format %q: use one of %s", c.Format, strings.Join(Formats(), ", ")))
	}
	if c.Timeout < 0 {
		problems = append(problems, fmt.Errorf("timeout of %s: use a positive one, or none for %s", c.Timeout, DefaultTimeout))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	return &Synthesizer{client: client, format: c.Format, rate: rates[c.Format]}, nil
}

// Engine returns the engine's identity. It calls nobody: the service tells no
// version of its models, and which of them speaks is with the voice. Audio of another server than ElevenLabs' own, a
// simulated one say, is another version's.
func (s *Synthesizer) Engine(context.Context) (speech.Engine, error) {
	version := "v1"
	if s.client.Root() != DefaultBaseURL {
		version += " of " + s.client.Root()
	}
	return speech.Engine{
		Name: Name, Version: version,
		Format: fmt.Sprintf("wav_%d (%s)", s.rate, s.format),
	}, nil
}

// Check fails when the pool is another synthesizer's, when a voice's params are
// wrong, or when the account can't use a voice, naming all of them. Its calls cost
// nothing.
func (s *Synthesizer) Check(ctx context.Context, pool voice.Pool) error {
	op := fmt.Sprintf("check voice pool %q for %s", pool.Name, Name)
	if err := pool.Validate(); err != nil {
		return fault.Permanentf(op, "pool_invalid", "%w", err)
	}
	if pool.Synthesizer != Name {
		return fault.Permanentf(op, "pool_of_another", "its voices are those of synthesizer %q", pool.Synthesizer)
	}
	var problems []error
	for _, v := range pool.Voices {
		err := s.checkVoice(ctx, v)
		switch {
		case err == nil:
		case fault.KindOf(err) == fault.Permanent:
			problems = append(problems, err)
		default:
			return err // of the service, not of this voice
		}
	}
	if len(problems) > 0 {
		return fault.Permanentf(op, "voices", "%w", errors.Join(problems...))
	}
	return nil
}

func (s *Synthesizer) checkVoice(ctx context.Context, v voice.Voice) error {
	op := "check voice " + strconv.Quote(v.Slug) + " for " + Name
	settings, err := parseVoice(v)
	if err != nil {
		return fault.Permanentf(op, "voice_params", "%w", err)
	}
	_, err = s.client.do(ctx, remote.Call{Op: op, Method: http.MethodGet, Path: "/v1/voices/" + settings.id, Limit: maxDescription})
	return err
}

// Synthesize speaks one turn, for the price of its characters. The audio is
// checked before it is returned: what can't be the text spoken is a Transient
// fault.
func (s *Synthesizer) Synthesize(ctx context.Context, req speech.Request) (speech.Speech, error) {
	op := fmt.Sprintf("speak with %s in voice %q", Name, req.Voice.Slug)
	characters := utf8.RuneCountInString(req.Text)
	v, err := parseVoice(req.Voice)
	switch {
	case err != nil:
		return speech.Speech{}, fault.Permanentf(op, "voice_params", "%w", err)
	case !speech.HasWords(req.Text):
		return speech.Speech{}, fault.Permanentf(op, "text_empty", "the text %.40q has no word", req.Text)
	case characters > limits[v.model]:
		return speech.Speech{}, fault.Permanentf(op, "text_too_long",
			"%d characters in one turn, model %s takes at most %d", characters, v.model, limits[v.model])
	}
	longest := longestAudio(characters, s.rate)
	reply, err := s.client.do(ctx, remote.Call{
		Op: op, Method: http.MethodPost,
		Path:  "/v1/text-to-speech/" + v.id + "?output_format=" + s.format,
		Body:  payload{Text: req.Text, Model: v.model, Settings: v.settings, Seed: req.Seed, Before: req.Previous, After: req.Next},
		Limit: longest,
	})
	if err != nil {
		return speech.Speech{}, err
	}
	if err := checkAudio(reply, req.Text, s.rate); err != nil {
		return speech.Speech{}, &fault.Error{Kind: fault.Transient, Op: op, Code: "audio_broken", Err: withID(err, reply.id)}
	}
	return speech.Speech{
		Audio:      wav(reply.Body, s.rate),
		Characters: characters,
		Credits:    reply.number("character-cost"),
		RequestID:  reply.id,
		Ceiling:    reply.number("maximum-concurrent-requests"),
	}, nil
}

// payload is the body of a request for speech.
type payload struct {
	Text     string    `json:"text"`
	Model    string    `json:"model_id"`
	Settings *settings `json:"voice_settings,omitempty"` // nil is the voice's own
	Seed     uint32    `json:"seed"`
	Before   string    `json:"previous_text,omitempty"` // neither is billed
	After    string    `json:"next_text,omitempty"`
}
