package elevenlabs

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/speechmanip/speechmanip/internal/simulator/ledger"
)

// maxRequest bounds a request, in bytes.
const maxRequest = 1 << 20

// speak answers a request for speech: it refuses it, breaks it as planned, or
// sends audio.
func (s *Server) speak(w http.ResponseWriter, r *http.Request, voice string) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		panic(http.ErrAbortHandler) // the client went away
	}
	format := r.URL.Query().Get("output_format")
	if format == "" {
		format = "mp3_44100_128"
	}
	key := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %s %s", voice, format, body)))
	planned := s.planned(key, body)
	if s.refuse(w, planned) {
		return
	}
	if !s.knows(w, voice) {
		return
	}
	req, ok := s.parse(w, voice, format, body)
	if !ok {
		return
	}
	running, ok := s.admit(w, req.cost())
	if !ok {
		return
	}
	end := s.ledger.Begin(key)
	outcome := ledger.Destroyed // unless it goes well
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
		end(req.cost(), outcome)
	}()

	header := w.Header()
	header.Set("character-cost", strconv.Itoa(req.cost()))
	header.Set("current-concurrent-requests", strconv.Itoa(running))
	if s.options.Concurrency > 0 && !s.options.Untold {
		header.Set("maximum-concurrent-requests", strconv.Itoa(s.options.Concurrency))
	}
	select {
	case <-time.After(s.options.Latency):
	case <-r.Context().Done():
		outcome = ledger.Abandoned
		panic(http.ErrAbortHandler)
	}
	audio := req.audio()
	if s.spoil(w, r, planned, audio) {
		return
	}
	header.Set("Content-Type", "audio/"+req.container)
	if _, err := w.Write(audio); err != nil || r.Context().Err() != nil {
		outcome = ledger.Abandoned
		return
	}
	outcome = ledger.Delivered
}

// planned counts a call and returns what is to go wrong with it.
func (s *Server) planned(key string, body []byte) Fault {
	var said struct{ Text string }
	_ = json.Unmarshal(body, &said) // parse answers what can't be read
	s.mu.Lock()
	call := Call{N: s.calls, Key: key, Try: s.tries[key], Text: said.Text}
	s.calls++
	s.tries[key]++
	s.mu.Unlock()
	if s.options.Fault == nil {
		return None
	}
	return s.options.Fault(call)
}

// admit takes a slot and the credits of a call, and returns how many slots are
// taken. It refuses the call itself where either is missing.
func (s *Server) admit(w http.ResponseWriter, cost int) (running int, ok bool) {
	s.mu.Lock()
	full := s.options.Concurrency > 0 && s.running >= s.options.Concurrency
	left, short := s.left, s.options.Quota > 0 && s.left < cost
	if !full && !short {
		s.running++
		s.left -= cost
		s.spent += cost
		running = s.running
	}
	s.mu.Unlock()
	switch {
	case full && s.options.NewErrors:
		s.fail(w, concurrentLimit)
	case full:
		s.fail(w, tooMany)
	case short:
		s.fail(w, quotaExceeded(s.options.Quota, left, cost))
	default:
		return running, true
	}
	return 0, false
}
