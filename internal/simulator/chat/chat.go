// Package chat is a chat server without a model: it speaks the dialects of vLLM
// and llama-server as real ones were recorded, and answers by a pure function of
// the request. It is for tests and benchmarks only.
package chat

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/speechmanip/speechmanip/internal/simulator/ledger"
)

// The dialects. Generic is a server that shares nothing but the completions.
const (
	VLLM    = "vllm"
	Llama   = "llama-server"
	Generic = "generic"
)

// Options say what server it is. The zero value of everything but Dialect is a
// healthy server.
type Options struct {
	Dialect     string
	Model       string // "" is "simulated"
	APIKey      string // "" asks for none
	Seed        uint64 // of the answers
	Context     int    // tokens; 0 is 32768
	MaxLogprobs int    // of vLLM; 0 is 20
	Slots       int    // answers at once, the others wait; 0 is 4
	Queue       int    // waiting ones before vLLM refuses with 503; 0 is no limit
	Latency     time.Duration

	NoAudio           bool    // started without its audio part
	AudioIgnored      bool    // clips are dropped, and cost no tokens
	AudioUnheard      bool    // clips cost tokens, and change nothing
	CutSeconds        float64 // what is beyond in a clip is dropped; 0 is nothing
	MaxClips          int     // in one prompt, of vLLM; 0 is no limit
	ConstraintIgnored bool
	NoLogprobs        bool
	Loading           int // requests that find it still loading

	Fault  func(Call) Fault                // of a completion; nil is none
	Script func(Prompt) map[string]float64 // logits by token, instead of the model's; nil, or a nil map, is the model's
}

// Call is one request for a completion, as a schedule of faults sees it.
type Call struct {
	N   int    // its number among all, from 0
	Key string // the same for the same request
	Try int    // its number among those of the same key, from 0

	Body []byte
}

// Server is an http.Handler. It is safe for concurrent use.
type Server struct {
	options Options
	slots   chan struct{}
	ledger  ledger.Ledger

	mu       sync.Mutex
	requests int // of all paths
	calls    int // for completions
	tries    map[string]int
	waiting  int
	dead     bool // a clip of one sample brought it down
}

// New returns a server.
func New(o Options) *Server {
	if o.Model == "" {
		o.Model = "simulated"
	}
	if o.Context == 0 {
		o.Context = 32768
	}
	if o.MaxLogprobs == 0 {
		o.MaxLogprobs = 20
	}
	if o.Slots == 0 {
		o.Slots = 4
	}
	return &Server{options: o, slots: make(chan struct{}, o.Slots), tries: map[string]int{}}
}

// Ledger returns what the completions cost, in tokens of prompts and answers.
func (s *Server) Ledger() *ledger.Ledger { return &s.ledger }

// Completions returns how often one was asked for, refused ones among them.
func (s *Server) Completions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// maxRequest bounds a request, in bytes.
const maxRequest = 64 << 20

// ServeHTTP routes a request as the dialect does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	loading := s.requests < s.options.Loading
	s.requests++
	dead := s.dead
	s.mu.Unlock()
	if dead {
		panic(http.ErrAbortHandler) // nobody listens any more
	}
	if loading {
		s.fail(w, http.StatusServiceUnavailable, "unavailable_error", "Loading model")
		return
	}
	if !s.authorized(r) {
		s.fail(w, http.StatusUnauthorized, "authentication_error", "Invalid API Key")
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		panic(http.ErrAbortHandler) // the client went away
	}
	path := r.URL.Path
	if s.options.Dialect == Llama { // with or without it
		path = strings.TrimPrefix(path, "/v1")
	}
	switch route := r.Method + " " + path; {
	case route == "POST /v1/chat/completions", route == "POST /chat/completions" && s.options.Dialect == Llama:
		s.complete(w, r, body)
	case route == "GET /v1/models", route == "GET /models" && s.options.Dialect == Llama:
		write(w, http.StatusOK, s.models())
	case route == "GET /health" && s.options.Dialect != Generic:
		write(w, http.StatusOK, map[string]string{"status": "ok"})
	case route == "GET /version" && s.options.Dialect == VLLM:
		write(w, http.StatusOK, map[string]string{"version": "0.12.0"})
	case route == "GET /props" && s.options.Dialect == Llama:
		write(w, http.StatusOK, s.props())
	case route == "POST /chat/completions/input_tokens" && s.options.Dialect == Llama:
		s.count(w, body)
	case route == "GET /metrics" && s.options.Dialect == Llama:
		s.fail(w, http.StatusNotImplemented, "not_supported_error", "This server does not support metrics endpoint. Start it with `--metrics`")
	case route == "POST /tokenize" && s.options.Dialect != Generic:
		s.tokenize(w, body)
	default:
		s.fail(w, http.StatusNotFound, "not_found_error", "File Not Found")
	}
}

// authorized follows the servers: vLLM guards /v1 only, llama-server all but its
// health, and takes X-Api-Key too.
func (s *Server) authorized(r *http.Request) bool {
	key := s.options.APIKey
	if key == "" || r.Header.Get("Authorization") == "Bearer "+key {
		return true
	}
	switch s.options.Dialect {
	case VLLM:
		return !strings.HasPrefix(r.URL.Path, "/v1")
	case Llama:
		return r.URL.Path == "/health" || r.Header.Get("X-Api-Key") == key
	}
	return false
}

func (s *Server) models() any {
	entry := map[string]any{"id": s.options.Model, "object": "model", "created": 1796009689}
	switch s.options.Dialect {
	case VLLM:
		entry["owned_by"], entry["root"], entry["parent"], entry["max_model_len"] = "vllm", s.options.Model, nil, s.options.Context
	case Llama:
		entry["owned_by"], entry["aliases"], entry["tags"] = "llamacpp", []string{s.options.Model}, []string{}
		entry["meta"] = map[string]any{
			"vocab_type": 2, "n_vocab": len(vocabulary), "n_ctx": s.options.Context, "n_ctx_train": 32768,
			"n_embd": 64, "n_params": 19522112, "size": 39045376, "ftype": "F16",
		}
	}
	return map[string]any{"object": "list", "data": []any{entry}}
}

func (s *Server) props() any {
	return map[string]any{
		"default_generation_settings": map[string]any{
			"params": map[string]any{"temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "samplers": llamaOrder},
			"n_ctx":  s.options.Context,
		},
		"total_slots": s.options.Slots, "model_alias": s.options.Model, "model_ftype": "F16", "model_path": "model.gguf",
		"modalities":     map[string]bool{"vision": false, "video": false, "audio": !s.options.NoAudio},
		"media_marker":   "<__media_simulated__>",
		"endpoint_slots": true, "endpoint_props": false, "endpoint_metrics": false,
		"chat_template": "", "bos_token": "<|endoftext|>", "eos_token": "<|im_end|>",
		"build_info": "b1-simulated", "is_sleeping": false,
	}
}

// count answers what a prompt would take.
func (s *Server) count(w http.ResponseWriter, body []byte) {
	a, refused := s.read(body)
	if refused != nil {
		s.refuse(w, refused)
		return
	}
	write(w, http.StatusOK, map[string]any{"object": "response.input_tokens", "input_tokens": a.promptTokens})
}

// tokenize answers in the dialect's form: pieces, or ids with the vocabulary's
// own spelling of a leading space.
func (s *Server) tokenize(w http.ResponseWriter, body []byte) {
	var request struct{ Content, Prompt string }
	if err := json.Unmarshal(body, &request); err != nil {
		s.fail(w, http.StatusBadRequest, "invalid_request_error", "bad JSON")
		return
	}
	if s.options.Dialect == Llama {
		pieces := []map[string]any{}
		for _, t := range tokenize(request.Content) {
			pieces = append(pieces, map[string]any{"id": t.id, "piece": t.text})
		}
		write(w, http.StatusOK, map[string]any{"tokens": pieces})
		return
	}
	ids, texts := []int{}, []string{}
	for _, t := range tokenize(request.Prompt) {
		ids, texts = append(ids, t.id), append(texts, strings.ReplaceAll(t.text, " ", "Ġ"))
	}
	write(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": s.options.Context, "tokens": ids, "token_strs": texts})
}

// fail writes an error as the dialect does.
func (s *Server) fail(w http.ResponseWriter, status int, kind, message string) {
	inner := map[string]any{"message": message, "type": kind, "code": status}
	if s.options.Dialect != Llama {
		inner["param"] = nil
	}
	write(w, status, map[string]any{"error": inner})
}

// write sends a value as JSON and reports whether all of it went out.
func write(w http.ResponseWriter, status int, value any) bool {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("simulated chat server: %v", err)) // plain values: a programming error
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, err = w.Write(data)
	return err == nil
}
