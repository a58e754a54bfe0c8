package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/prompt"
)

// probe finds out what a server is and can do, by asking it harmless things:
// servers accept fields that they don't know, and audio that they don't hear,
// and answer all the same. A server that can't be asked is a fault; one that
// refuses a capability just lacks it.
func (d *Detector) probe(ctx context.Context, server *client) (Capabilities, error) {
	p := probe{d: d, client: server, caps: Capabilities{Dialect: d.config.Dialect, Model: d.config.Model, Server: "a chat server", NoPromptCache: d.config.NoPromptCache}}
	for _, step := range []func(context.Context) error{
		p.program, p.model, p.logprobs, p.choice, p.prefill, p.pieces, p.hearing, p.promptText, p.prefixCache,
	} {
		if err := step(ctx); err != nil {
			return Capabilities{}, err
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(p.identity, "\n")))
	p.caps.Fingerprint = p.caps.Server + " " + hex.EncodeToString(sum[:6])
	return p.caps, nil
}

type probe struct {
	d        *Detector
	client   *client
	caps     Capabilities
	identity []string // what tells this server and model from others
}

// get reads a JSON document. It is absent where the server has none.
func (p *probe) get(ctx context.Context, path string, out any) (found bool, err error) {
	data, err := p.client.do(ctx, p.client.at("probe the chat server: GET "+path), http.MethodGet, path, nil)
	if lacks(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return json.Unmarshal(data, out) == nil, nil
}

// lacks reports whether the server understood the question and refused it.
func lacks(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.Permanent
}

// ask makes one small completion, absent where the server refuses it.
func (p *probe) ask(ctx context.Context, what string, messages []message, q question) (r reply, accepted bool, err error) {
	r, err = p.client.complete(ctx, "probe the chat server: "+what, newRequest(p.caps, messages, q))
	if lacks(err) {
		p.note("%s: %v", what, err)
		return reply{}, false, nil
	}
	return r, err == nil, err
}

func (p *probe) note(format string, args ...any) {
	p.caps.Notes = append(p.caps.Notes, fmt.Sprintf(format, args...))
}

// program finds the dialect by what only one server has.
func (p *probe) program(ctx context.Context) error {
	var props struct {
		Build      string `json:"build_info"`
		Slots      int    `json:"total_slots"`
		Type       string `json:"model_ftype"`
		Generation struct {
			Context int `json:"n_ctx"`
			Params  struct {
				Samplers []string `json:"samplers"`
			} `json:"params"`
		} `json:"default_generation_settings"`
	}
	if p.caps.Dialect == Auto || p.caps.Dialect == Llama {
		found, err := p.get(ctx, "/props", &props)
		if err != nil {
			return err
		}
		if found && props.Build != "" {
			p.caps.Dialect = Llama
			p.caps.Server = "llama-server " + printable(props.Build)
			p.caps.Slots, p.caps.Context = props.Slots, props.Generation.Context
			p.caps.Samplers = len(props.Generation.Params.Samplers) > 0 // so it knows the field
			p.identity = append(p.identity, props.Build, props.Type)
			return nil
		}
	}
	var version struct {
		Version string `json:"version"`
	}
	if p.caps.Dialect == Auto || p.caps.Dialect == VLLM {
		found, err := p.get(ctx, "/version", &version)
		if err != nil {
			return err
		}
		if found && version.Version != "" {
			p.caps.Dialect = VLLM
			p.caps.Server = "vLLM " + printable(version.Version)
			p.caps.Samplers = true // temperature first, always
			p.identity = append(p.identity, version.Version)
			return nil
		}
	}
	if p.caps.Dialect == Auto {
		p.caps.Dialect = Generic
	}
	return nil
}

type modelEntry struct {
	ID      string   `json:"id"`
	Aliases []string `json:"aliases"`
	Root    string   `json:"root"`
	Window  int      `json:"max_model_len"` // vLLM
	Meta    struct {
		Parameters int64 `json:"n_params"`
		Size       int64 `json:"size"`
	} `json:"meta"` // llama-server
}

// model makes sure that the model is the one that is asked for: llama-server
// accepts any name.
func (p *probe) model(ctx context.Context) error {
	var list struct {
		Data []modelEntry `json:"data"`
	}
	found, err := p.get(ctx, "/v1/models", &list)
	if err != nil {
		return err
	}
	op := p.client.at("probe the chat server")
	if !found || len(list.Data) == 0 {
		if p.caps.Model == "" {
			return fault.Permanentf(op, "no_model", "it lists no models: name the model to use")
		}
		return nil
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, printable(m.ID))
	}
	i := slices.IndexFunc(list.Data, func(m modelEntry) bool {
		return m.ID == p.caps.Model || slices.Contains(m.Aliases, p.caps.Model)
	})
	switch {
	case p.caps.Model == "" && len(list.Data) == 1:
		i = 0
	case i < 0:
		return fault.Permanentf(op, "unknown_model", "it serves %q, not %q: name one of them", names[:min(len(names), 8)], p.caps.Model)
	}
	m := list.Data[i]
	p.caps.Model = m.ID
	if m.Window > 0 {
		p.caps.Context = m.Window
	}
	p.identity = append(p.identity, m.ID, m.Root, fmt.Sprint(m.Meta.Parameters, m.Meta.Size))
	return nil
}

func textMessages(text string) []message {
	return []message{{Role: "system", Content: "You answer briefly."}, {Role: "user", Content: text}}
}

// logprobs finds the largest number of candidates that the server gives.
func (p *probe) logprobs(ctx context.Context) error {
	most := map[Dialect]int{Llama: 1000, VLLM: 20, Generic: 20}[p.caps.Dialect]
	if p.d.config.TopLogprobs > 0 {
		most = p.d.config.TopLogprobs
	}
	p.caps.Logprobs = true // so that newRequest asks for them
	for _, n := range []int{most, 20, 5} {
		if n > most {
			continue
		}
		p.caps.TopLogprobs = n
		q := question{sampling: plainSampling, maxTokens: 1, logprobs: true}
		r, accepted, err := p.ask(ctx, fmt.Sprintf("%d logprobs", n), textMessages("Say a word."), q)
		if err != nil {
			return err
		}
		if accepted && r.hasFirst {
			return nil
		}
		if accepted {
			break // without any: fewer won't help
		}
	}
	p.caps.Logprobs, p.caps.TopLogprobs = false, 0
	return nil
}

// choice checks that a constraint binds, with words that nothing suggests.
func (p *probe) choice(ctx context.Context) error {
	p.caps.Choice = map[Dialect]string{VLLM: choiceStructured, Llama: choiceGrammar}[p.caps.Dialect]
	if p.caps.Choice == "" {
		return nil
	}
	words := []string{"K7", "Q3"}
	q := question{sampling: greedy, maxTokens: 8, choice: words}
	r, accepted, err := p.ask(ctx, "a constraint by "+p.caps.Choice, textMessages("What is the capital of France?"), q)
	if err != nil {
		return err
	}
	if !accepted || !slices.Contains(words, strings.TrimSpace(r.text)) {
		if accepted {
			p.note("%s does not bind: the answer was %q", p.caps.Choice, printable(r.text))
		}
		p.caps.Choice = ""
	}
	return nil
}

// prefill checks that a begun answer can be continued.
func (p *probe) prefill(ctx context.Context) error {
	p.caps.Prefill = map[Dialect]string{VLLM: prefillFields, Llama: prefillTrailing}[p.caps.Dialect]
	if p.caps.Prefill == "" || !p.caps.Logprobs {
		p.caps.Prefill = ""
		return nil
	}
	q := question{sampling: greedy, maxTokens: 1, prefill: "Playing"}
	r, accepted, err := p.ask(ctx, "a begun answer", textMessages("Say a word."), q)
	if err != nil {
		return err
	}
	// llama-server repeats what the answer began with, vLLM doesn't.
	if !accepted || p.caps.Dialect == Llama && !strings.HasPrefix(r.text, "Playing") {
		p.caps.Prefill = ""
	}
	return nil
}

// promptText counts the decision prompt without its clips.
func (p *probe) promptText(ctx context.Context) error {
	messages, err := p.d.strategy.Render(prompt.Request{Stage: prompt.Decide, Input: prompt.Audio, Order: p.d.config.Order, Exemplars: p.d.exemplars})
	if err != nil {
		return fault.Permanentf("probe the chat server", "bad_prompt", "%w", err)
	}
	silent := *p.d
	silent.clips = make([]clip, len(p.d.clips))
	q := question{sampling: greedy, maxTokens: 1}
	r, _, err := p.ask(ctx, "the prompt without audio", silent.fill(messages, clip{}), q)
	p.caps.PromptText = r.promptTokens
	return err
}

// vllmCaching is where vLLM's metrics say whether it caches prefixes.
var vllmCaching = regexp.MustCompile(`vllm:cache_config_info\{[^}]*enable_prefix_caching="(\w+)"`)

// prefixCache finds out whether prompts that begin alike are read once. Both
// servers do so unless they are told otherwise; only vLLM shows it.
func (p *probe) prefixCache(ctx context.Context) error {
	switch p.caps.Dialect {
	case Llama:
		p.caps.PrefixCache = !p.caps.NoPromptCache
	case VLLM:
		data, err := p.client.do(ctx, p.client.at("probe the chat server: GET /metrics"), http.MethodGet, "/metrics", nil)
		if err != nil && !lacks(err) {
			return err
		}
		said := vllmCaching.FindSubmatch(data)
		p.caps.PrefixCache = said == nil || string(said[1]) == "True"
	}
	return nil
}
