package chat

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/speechmanip/speechmanip/internal/simulator/ledger"
)

// Fault is what goes wrong with one completion.
type Fault string

// The faults.
const (
	None         Fault = ""
	TooMany      Fault = "429"            // with Retry-After in seconds
	TooManyDate  Fault = "429-date"       // with Retry-After as a date
	BadKey       Fault = "401"            // a key that stopped working
	NoCredit     Fault = "429-quota"      // insufficient_quota
	ServerError  Fault = "500"            // worth another try
	ClientError  Fault = "500-client"     // says 500, but is the request's fault
	Gateway      Fault = "502-html"       // a proxy's page
	StillLoading Fault = "503-loading"    // the model is loading
	Reset        Fault = "reset"          // the connection breaks before a reply
	LateReset    Fault = "late-reset"     // the same after the answer was made
	SlowBody     Fault = "slow-body"      // the reply comes byte by byte
	CutBody      Fault = "truncated-body" // the reply ends too early
	Garbage      Fault = "garbage"        // 200 with something else than JSON
	NoChoices    Fault = "no-choices"     // 200 with an empty completion
)

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{
		TooMany, TooManyDate, BadKey, NoCredit, ServerError, ClientError, Gateway, StillLoading,
		Reset, LateReset, SlowBody, CutBody, Garbage, NoChoices,
	}
}

// before is the faults of a request that nobody answers.
func (s *Server) before(w http.ResponseWriter, f Fault) (done bool) {
	switch f {
	case TooMany:
		w.Header().Set("Retry-After", strconv.Itoa(2))
		s.fail(w, http.StatusTooManyRequests, "rate_limit_error", "Too many requests")
	case TooManyDate:
		w.Header().Set("Retry-After", time.Now().Add(3*time.Second).UTC().Format(http.TimeFormat))
		s.fail(w, http.StatusTooManyRequests, "rate_limit_error", "Too many requests")
	case BadKey:
		s.fail(w, http.StatusUnauthorized, "authentication_error", "Invalid API Key")
	case NoCredit:
		s.fail(w, http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota")
	case ServerError:
		s.fail(w, http.StatusInternalServerError, "server_error", "EngineCore encountered an issue")
	case ClientError:
		s.fail(w, http.StatusInternalServerError, "server_error", "Invalid base64 value")
	case Gateway:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html><body><h1>502 Bad Gateway</h1></body></html>"))
	case StillLoading:
		s.fail(w, http.StatusServiceUnavailable, "unavailable_error", "Loading model")
	case Reset:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

// after is the faults of an answer on its way back, and what became of it.
func (s *Server) after(w http.ResponseWriter, f Fault, reply any) (outcome ledger.Outcome, done bool) {
	data, err := json.Marshal(reply)
	if err != nil {
		panic(err) // plain values: a programming error
	}
	switch f {
	case LateReset:
		panic(http.ErrAbortHandler)
	case SlowBody:
		w.WriteHeader(http.StatusOK)
		for _, b := range data {
			if _, err := w.Write([]byte{b}); err != nil {
				return ledger.Abandoned, true
			}
			_ = http.NewResponseController(w).Flush() // a client that is gone ends the writes
			time.Sleep(time.Millisecond)
		}
		return ledger.Delivered, true // to who waited
	case CutBody:
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(data[:len(data)/2])
		panic(http.ErrAbortHandler)
	case Garbage:
		_, _ = w.Write([]byte("<html>It works!</html>"))
	case NoChoices:
		write(w, http.StatusOK, map[string]any{"object": "chat.completion", "choices": []any{}})
	default:
		return "", false
	}
	return ledger.Destroyed, true
}
