// Package elevenlabs is a server that speaks ElevenLabs' text-to-speech protocol
// and sings tones: what it answers is a pure function of the request. It is for
// tests and benchmarks only.
package elevenlabs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/speechmanip/speechmanip/internal/simulator/ledger"
)

// Options say what account and what server it is. The zero value is a healthy
// server for anybody, without a voice.
type Options struct {
	APIKey      string // "" asks for none
	Voices      []string
	Concurrency int  // calls at once, more are refused; 0 is no limit
	Untold      bool // no reply says how many they may be
	Quota       int  // credits; 0 is no limit
	Latency     time.Duration
	NewErrors   bool // the newer shape of errors, with type, code and request_id

	Fault func(Call) Fault // of a call; nil is none
}

// Call is one request for speech, as a schedule of faults sees it.
type Call struct {
	N    int    // its number among all, from 0
	Key  string // the same for the same request
	Try  int    // its number among those of the same key, from 0
	Text string // to be spoken, "" where the request can't be read
}

// Server is an http.Handler. It is safe for concurrent use.
type Server struct {
	options Options
	ledger  ledger.Ledger

	mu       sync.Mutex
	requests int // of all paths
	calls    int // for speech
	tries    map[string]int
	running  int
	key      string
	left     int // credits
	spent    int
}

// New returns a server.
func New(o Options) *Server {
	return &Server{options: o, tries: map[string]int{}, key: o.APIKey, left: o.Quota}
}

// Ledger returns what the calls cost, in credits.
func (s *Server) Ledger() *ledger.Ledger { return &s.ledger }

// Calls returns how often speech was asked for, refused calls among them.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// AddCredits gives the account more to spend. Without a quota it means nothing.
func (s *Server) AddCredits(credits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left += credits
}

// SetAPIKey replaces the key that the server takes.
func (s *Server) SetAPIKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	id := fmt.Sprintf("sim%020d", s.requests)
	s.mu.Unlock()
	w.Header().Set("request-id", id)

	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(path) < 2 || path[0] != "v1":
		write(w, http.StatusNotFound, map[string]string{"detail": "Not Found"})
	case !s.authorize(w, r):
	case r.URL.Path == "/v1/user/subscription" && r.Method == http.MethodGet:
		write(w, http.StatusOK, s.subscription())
	case path[1] == "voices" && len(path) == 2 && r.Method == http.MethodGet:
		list := []any{}
		for _, voice := range s.options.Voices {
			list = append(list, described(voice))
		}
		write(w, http.StatusOK, map[string]any{"voices": list})
	case path[1] == "voices" && len(path) == 3 && r.Method == http.MethodGet:
		if s.knows(w, path[2]) {
			write(w, http.StatusOK, described(path[2]))
		}
	case path[1] == "text-to-speech" && len(path) == 3 && r.Method == http.MethodPost:
		s.speak(w, r, path[2])
	default:
		write(w, http.StatusNotFound, map[string]string{"detail": "Not Found"})
	}
}

// ResetUnix is when the account's credits come back, in seconds since 1970.
const ResetUnix = 1798761600

// subscription is the account as the service describes it, in part.
func (s *Server) subscription() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.spent + s.left
	if s.options.Quota == 0 {
		limit = 1 << 30 // the service has a number for every plan
	}
	return map[string]any{
		"tier": "creator", "status": "active", "currency": "usd", "billing_period": "monthly_period",
		"character_count": s.spent, "character_limit": limit, "next_character_count_reset_unix": ResetUnix,
	}
}

func described(voice string) any {
	return map[string]any{
		"voice_id": voice, "name": "Simulated " + voice, "category": "professional",
		"labels": map[string]string{"accent": "american"}, "settings": nil,
	}
}

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	want := s.key
	s.mu.Unlock()
	switch given := r.Header.Get("xi-api-key"); {
	case want == "" || given == want:
		return true
	case given == "":
		s.fail(w, problem{http.StatusUnauthorized, "authentication_error", "needs_authorization",
			"Neither authorization header nor xi-api-key received, please provide one."})
	default:
		s.fail(w, invalidKey)
	}
	return false
}

// knows refuses a voice that the account doesn't have.
func (s *Server) knows(w http.ResponseWriter, voice string) bool {
	for _, known := range s.options.Voices {
		if voice == known {
			return true
		}
	}
	s.fail(w, voiceNotFound(voice))
	return false
}

// problem is an error before it has a shape.
type problem struct {
	status              int
	kind, code, message string
}

var invalidKey = problem{http.StatusUnauthorized, "authentication_error", "invalid_api_key", "Invalid API key"}

func voiceNotFound(voice string) problem {
	return problem{http.StatusNotFound, "not_found", "voice_not_found", fmt.Sprintf("A voice with the voice_id %s was not found.", voice)}
}

// fail writes an error in the server's shape.
func (s *Server) fail(w http.ResponseWriter, p problem) {
	s.failAs(w, p, s.options.NewErrors)
}

func (s *Server) failAs(w http.ResponseWriter, p problem, newer bool) {
	detail := map[string]any{"status": p.code, "message": p.message}
	if newer {
		detail = map[string]any{
			"type": p.kind, "code": p.code, "message": p.message,
			"request_id": w.Header().Get("request-id"), "param": nil,
		}
	}
	write(w, p.status, map[string]any{"detail": detail})
}

// unprocessable writes the error of a request that doesn't validate.
func unprocessable(w http.ResponseWriter, message string, where ...string) {
	write(w, http.StatusUnprocessableEntity, map[string]any{
		"detail": []any{map[string]any{"loc": where, "msg": message, "type": "value_error"}},
	})
}

func write(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("simulated ElevenLabs: %v", err)) // plain values: a programming error
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client may be gone
}
