// Package chat is the detector behind an OpenAI-compatible chat server that
// takes audio: vLLM, llama-server, or any other.
package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/recent"
	"github.com/speechmanip/speechmanip/internal/secret"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Name is the detector's name in identities.
const Name = "chat"

// version is of everything here that turns replies into answers; it is part of
// the identity.
const version = "1"

// Config says which server to ask, and how.
type Config struct {
	// BaseURLs are servers that are alike: http://host:port each, with or without
	// /v1. An item's questions go to one of them, so that its prompt is read once.
	BaseURLs []string
	APIKey   secret.Text // "" sends none
	KeyName  string      // the setting that APIKey comes from, for hints
	Model    string      // "" takes the server's only one
	Dialect  Dialect

	Strategy  string       // a prompt strategy's name
	Order     prompt.Order // "" is ab
	Exemplars []Exemplar   // exactly as many as the strategy shows; none where it shows none
	Rules     vote.Rules   // tactic forms, fallback margin, what exemplars show

	Timeout         time.Duration // of one call; 0 is 100 s
	TopLogprobs     int           // candidates to ask for; 0 is the dialect's usual most
	QuoteTokens     int           // 0 is 48
	ReasonTokens    int           // 0 is 400
	MaxAudioSeconds float64       // of one clip; 0 is 300, what Qwen2.5-Omni hears
	// NoPromptCache makes llama-server read every prompt anew: slower, but its
	// logits then don't depend on what it was asked before.
	NoPromptCache bool

	HTTP         *http.Client  // nil is a fresh one
	Capabilities *Capabilities // of an earlier probe; nil probes before the first question
}

// Exemplar is a solved dialogue that prompts show. Clip is used for audio, Turns
// for text.
type Exemplar struct {
	vote.Exemplar
	Turns []dialogue.Turn
	Clip  audio.PCM
}

// Detector asks one server, or several that are alike.
type Detector struct {
	config    Config // without its key
	servers   []*client
	strategy  prompt.Strategy
	exemplars []prompt.Exemplar
	clips     []clip // the exemplars'
	settings  string // hash of everything that shapes answers beside the server
	sent      *recent.Cache[clip]

	probing chan struct{} // held by the one that probes
	probed  *Capabilities // guarded by probing
}

var _ detect.Detector = (*Detector)(nil)

// New returns a detector; it contacts nothing. The error names every setting
// that can't be used, and never the key.
func New(c Config) (*Detector, error) {
	c = c.withDefaults()
	strategy, strategyErr := prompt.Find(c.Strategy)
	servers, serversErr := newClients(c)
	c.APIKey = ""
	d := &Detector{config: c, servers: servers, strategy: strategy, probing: make(chan struct{}, 1), probed: c.Capabilities, sent: &recent.Cache[clip]{}}
	err := errors.Join(strategyErr, serversErr, c.validate(strategy))
	if err != nil {
		return nil, fmt.Errorf("chat detector: %w", err)
	}
	for _, e := range c.Exemplars {
		d.exemplars = append(d.exemplars, prompt.Exemplar{Exemplar: c.Rules.Shown(e.Exemplar), Turns: e.Turns})
		encoded, err := newClip(e.Clip)
		if err != nil {
			return nil, fmt.Errorf("chat detector: exemplar %s: %w", e.ID, err)
		}
		d.clips = append(d.clips, encoded)
	}
	if d.settings, err = d.hashSettings(); err != nil {
		return nil, fmt.Errorf("chat detector: %w", err)
	}
	return d, nil
}

func (c Config) withDefaults() Config {
	if c.Order == "" {
		c.Order = prompt.AB
	}
	if c.Dialect == "" {
		c.Dialect = Auto
	}
	if c.Timeout == 0 {
		c.Timeout = 100 * time.Second
	}
	if c.QuoteTokens == 0 {
		c.QuoteTokens = 48
	}
	if c.ReasonTokens == 0 {
		c.ReasonTokens = 400
	}
	if c.MaxAudioSeconds == 0 {
		c.MaxAudioSeconds = 300
	}
	return c
}

func (c Config) validate(s prompt.Strategy) error {
	var errs []error
	if !slices.Contains(Dialects(), c.Dialect) {
		errs = append(errs, fmt.Errorf("dialect %q: use one of %q", c.Dialect, Dialects()))
	}
	if c.Timeout < 0 || c.TopLogprobs < 0 || c.QuoteTokens < 0 || c.ReasonTokens < 0 || c.MaxAudioSeconds < 0 {
		errs = append(errs, errors.New("no limit may be negative"))
	}
	if s.Name != "" && len(c.Exemplars) != s.Exemplars {
		errs = append(errs, fmt.Errorf("strategy %s shows %d exemplars, %d are given", s.Name, s.Exemplars, len(c.Exemplars)))
	}
	return errors.Join(append(errs, c.Order.Validate(), c.Rules.Validate())...)
}

// hashSettings names what shapes answers: the questions, the exemplars and the
// rules that a detector applies. Rules that only weigh stored answers stay out.
func (d *Detector) hashSettings() (string, error) {
	questions, err := d.strategy.Fingerprint(d.config.Order, d.exemplars)
	if err != nil {
		return "", err
	}
	var clips []string
	for _, c := range d.clips {
		clips = append(clips, c.hash)
	}
	data, err := json.Marshal(struct {
		Version, Questions string
		Clips              []string
		Forms              vote.FormRule
		FallbackMargin     vote.Nano
		Top, Quote, Reason int
	}{version, questions, clips, d.config.Rules.TacticForms, d.config.Rules.FallbackMargin,
		d.config.TopLogprobs, d.config.QuoteTokens, d.config.ReasonTokens})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Identity probes the server where nobody has; it judges nothing. Its Method
// ends in a hash of the prompts, the exemplars and the settings.
func (d *Detector) Identity(ctx context.Context) (detect.Identity, error) {
	caps, err := d.capabilities(ctx)
	if err != nil {
		return detect.Identity{}, err
	}
	return detect.Identity{
		Detector:    Name,
		Model:       caps.Model,
		Fingerprint: caps.Fingerprint,
		Dialect:     string(caps.Dialect),
		Method: fmt.Sprintf("%s prompt %s, options %s; decision %s; tactics %s; settings %s",
			d.strategy.Name, prompt.Version, d.config.Order, caps.decisionMethod(), caps.tacticMethod(), d.settings),
	}, nil
}

// Seen returns the exemplars: every prompt shows them with their solutions.
func (d *Detector) Seen() detect.Seen {
	var seen detect.Seen
	for _, e := range d.config.Exemplars {
		seen.IDs = append(seen.IDs, e.ID)
		if len(e.Turns) > 0 {
			seen.TextHashes = append(seen.TextHashes, dialogue.Dialogue{Turns: e.Turns}.TextHash())
		}
	}
	return seen
}

// NeedsTranscript is false: only the modality asr reads the recogniser's words,
// and gets them anyway.
func (d *Detector) NeedsTranscript() bool { return false }

// capabilities probes once. Whoever comes while another probes waits for it.
func (d *Detector) capabilities(ctx context.Context) (Capabilities, error) {
	select {
	case d.probing <- struct{}{}:
		defer func() { <-d.probing }()
	case <-ctx.Done():
		return Capabilities{}, fmt.Errorf("probe the chat server: %w", ctx.Err())
	}
	if d.probed == nil {
		caps, err := d.Probe(ctx)
		if err != nil {
			return Capabilities{}, err
		}
		d.probed = &caps
	}
	return *d.probed, nil
}

// decisionMethod names how the letters are had.
func (c Capabilities) decisionMethod() string {
	if c.Choice == "" {
		return "parsed from a free answer"
	}
	return "constrained by " + c.Choice
}

// tacticMethod names how tactics are scored.
func (c Capabilities) tacticMethod() string {
	switch {
	case !c.Logprobs && c.Choice != "":
		return "chosen under " + c.Choice + ", no probabilities"
	case !c.Logprobs:
		return "parsed from a free answer, no probabilities"
	}
	parts := []string{fmt.Sprintf("first-token logprobs, top %d", c.TopLogprobs)}
	if len(c.Pieces) == 0 {
		parts = append(parts, "tokens matched by prefix")
	}
	if c.Prefill == "" {
		parts = append(parts, "shared first tokens unresolved")
	} else {
		parts = append(parts, "shared first tokens resolved by the next token")
	}
	return strings.Join(parts, ", ")
}
