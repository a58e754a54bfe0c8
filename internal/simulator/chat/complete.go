package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/simulator/ledger"
)

// complete answers one completion, through the slots and the faults.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, data []byte) {
	sum := sha256.Sum256(data)
	key := hex.EncodeToString(sum[:])
	planned, admitted := s.admit(key, data)
	defer s.leave()
	if !admitted {
		s.fail(w, http.StatusServiceUnavailable, "ServiceUnavailableError", "The request queue is full")
		return
	}
	if s.before(w, planned) {
		return
	}
	a, refused := s.read(data)
	if refused != nil {
		s.refuse(w, refused)
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
	end := s.ledger.Begin(key)
	cost, outcome := 0, ledger.Destroyed // unless it goes well
	defer func() { end(cost, outcome) }()
	select {
	case <-time.After(s.options.Latency):
	case <-r.Context().Done():
		panic(http.ErrAbortHandler) // nothing was made yet
	}
	reply, tokens := s.answer(a)
	cost = a.promptTokens + tokens
	if spoiled, done := s.after(w, planned, reply); done {
		outcome = spoiled
		return
	}
	outcome = ledger.Delivered
	if !write(w, http.StatusOK, reply) || r.Context().Err() != nil {
		outcome = ledger.Abandoned
	}
}

// admit counts a call, and returns what is to go wrong with it and whether the
// queue has room.
func (s *Server) admit(key string, data []byte) (planned Fault, ok bool) {
	s.mu.Lock()
	call := Call{N: s.calls, Key: key, Try: s.tries[key], Body: data}
	s.calls++
	s.tries[key]++
	full := s.options.Dialect == VLLM && s.options.Queue > 0 && s.waiting >= s.options.Queue
	s.waiting++
	s.mu.Unlock()
	if s.options.Fault == nil {
		return None, !full
	}
	return s.options.Fault(call), !full
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
}

func (s *Server) refuse(w http.ResponseWriter, r *refusal) {
	if r.dies {
		s.mu.Lock()
		s.dead = true
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	inner := map[string]any{"message": r.message, "type": r.kind, "code": r.status}
	if s.options.Dialect != Llama {
		inner["param"] = nil
	}
	for name, extra := range r.extra {
		inner[name] = extra
	}
	write(w, r.status, map[string]any{"error": inner})
}

// entry is one token of an answer, with its candidates.
type entry map[string]any

// answer draws tokens until the end.
func (s *Server) answer(a ask) (reply any, tokens int) {
	key := sha256.Sum256([]byte(a.prompt.Text + "\x00" + a.prompt.audio))
	rng := rand.New(rand.NewPCG(uint64(a.seed), uint64(key[0])<<8|uint64(key[1])))
	finish := "length"
	var entries []entry
	p := a.prompt
	for tokens < a.maxTokens {
		chosen, shown := a.sampling.step(s.logits(p), strings.TrimPrefix(p.Generated, a.prefill), rng)
		tokens++
		// llama-server holds such a token back, and its entry with it.
		held := s.options.Dialect == Llama && !utf8.ValidString(vocabulary[chosen].text)
		if a.logprobs && !held {
			entries = append(entries, s.entry(chosen, shown, a.top))
		}
		if vocabulary[chosen].id == end {
			finish = "stop"
			break
		}
		p.Generated += vocabulary[chosen].text
	}
	content := strings.TrimPrefix(p.Generated, a.prefill)
	if s.options.Dialect == Llama {
		content = p.Generated // with what it began with
	}
	choice := map[string]any{"index": 0, "finish_reason": finish, "message": s.message(content)}
	if len(entries) > 0 {
		choice["logprobs"] = map[string]any{"content": entries}
	}
	usage := map[string]any{"prompt_tokens": a.promptTokens, "completion_tokens": tokens, "total_tokens": a.promptTokens + tokens}
	out := map[string]any{
		"id": "chatcmpl-" + hex.EncodeToString(key[:12]), "object": "chat.completion", "created": 1796009675,
		"model": s.options.Model, "choices": []any{choice}, "usage": usage,
	}
	switch s.options.Dialect {
	case Llama:
		usage["prompt_tokens_details"] = map[string]any{"cached_tokens": 0}
		out["system_fingerprint"] = "b1-simulated"
		out["timings"] = map[string]any{"cache_n": 0, "prompt_n": a.promptTokens, "predicted_n": tokens}
	case VLLM:
		usage["prompt_tokens_details"] = nil
		out["system_fingerprint"], out["service_tier"], out["prompt_logprobs"] = nil, nil, nil
		choice["stop_reason"] = nil
		if len(entries) == 0 {
			choice["logprobs"] = nil
		}
	}
	return out, tokens
}

func (s *Server) message(content string) any {
	out := map[string]any{"role": "assistant", "content": content}
	if s.options.Dialect == VLLM {
		out["refusal"], out["reasoning_content"], out["tool_calls"] = nil, nil, []any{}
	}
	return out
}

// entry shows a token and the most probable ones. The drawn one may be missing
// from llama-server's list; vLLM adds it at the end.
func (s *Server) entry(chosen int, shown []float64, top int) entry {
	order := make([]int, len(shown))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return shown[order[a]] > shown[order[b]] })
	listed := order[:min(max(top, 0), len(order))]
	out := s.candidate(chosen, shown)
	candidates := []entry{}
	found := false
	for _, i := range listed {
		candidates = append(candidates, s.candidate(i, shown))
		found = found || i == chosen
	}
	if s.options.Dialect == VLLM && !found {
		candidates = append(candidates, s.candidate(chosen, shown))
	}
	out["top_logprobs"] = candidates
	return out
}

func (s *Server) candidate(i int, shown []float64) entry {
	t := vocabulary[i]
	bytes := []int{}
	for _, b := range []byte(t.text) {
		bytes = append(bytes, int(b))
	}
	// JSON has no -Inf; vLLM writes this instead.
	out := entry{"token": strings.ToValidUTF8(t.text, ""), "bytes": bytes, "logprob": math.Max(shown[i], -9999)}
	if s.options.Dialect == Llama {
		out["id"] = t.id
	} else if t.id == end {
		out["token"] = "<|im_end|>"
	}
	return out
}

// String names a server in test output.
func (s *Server) String() string {
	return fmt.Sprintf("simulated %s with %s", s.options.Dialect, s.options.Model)
}
