package elevenlabs

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Fault is what goes wrong with one request for speech.
type Fault string

// The faults. Those of the first group cost nothing.
const (
	None          Fault = ""
	TooMany       Fault = "429-too_many_concurrent_requests" // the old shape
	TooManyNew    Fault = "429-concurrent_limit_exceeded"    // the new shape
	Busy          Fault = "429-system_busy"                  // with Retry-After in seconds
	RateLimited   Fault = "429-rate_limit_exceeded"          // with Retry-After as a date
	NoQuota       Fault = "401-quota_exceeded"               // of an account
	NoKeyQuota    Fault = "401-quota_exceeded-key"           // of a key, the new shape
	BadKey        Fault = "401-invalid_api_key"
	VoiceGone     Fault = "404-voice_not_found"
	PlanTooSmall  Fault = "403-only_for_creator+"
	PlanNotPaid   Fault = "402-paid_plan_required" // the new shape, with another status beside the code
	Unprocessable Fault = "422"
	ServerError   Fault = "500"
	Unavailable   Fault = "503"
	Gateway       Fault = "502-html" // a proxy's page
	Reset         Fault = "reset"    // the connection breaks before a reply

	LateReset  Fault = "late-reset"  // the connection breaks after the audio was made
	SlowBody   Fault = "slow-body"   // the audio never ends
	CutBody    Fault = "cut-body"    // the connection breaks amid the audio
	ShortAudio Fault = "200-short"   // a whole reply with a twentieth of the audio
	OddAudio   Fault = "200-odd"     // half a sample is missing
	Silence    Fault = "200-silence" // the right length of nothing
	Empty      Fault = "200-empty"
	JSONAudio  Fault = "200-json"       // JSON that is no error
	ErrorAudio Fault = "200-json-error" // an error as JSON
	HTMLAudio  Fault = "200-html"
)

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{
		TooMany, TooManyNew, Busy, RateLimited, NoQuota, NoKeyQuota, BadKey, VoiceGone, PlanTooSmall, PlanNotPaid,
		Unprocessable, ServerError, Unavailable, Gateway, Reset,
		LateReset, SlowBody, CutBody, ShortAudio, OddAudio, Silence, Empty, JSONAudio, ErrorAudio, HTMLAudio,
	}
}

// What Retry-After says.
const (
	BusySeconds        = 2
	RateLimitedSeconds = 3
)

const htmlPage = "<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1></body></html>"

var (
	tooMany = problem{http.StatusTooManyRequests, "rate_limit_error", "too_many_concurrent_requests",
		"Too many concurrent requests. Your current subscription is associated with a maximum of concurrent requests."}
	concurrentLimit = problem{http.StatusTooManyRequests, "rate_limit_error", "concurrent_limit_exceeded", tooMany.message}
)

func quotaExceeded(quota, left, cost int) problem {
	return problem{http.StatusUnauthorized, "invalid_request", "quota_exceeded", fmt.Sprintf(
		"This request exceeds your quota of %d. You have %d credits remaining, while %d credits are required for this request.", quota, left, cost)}
}

// refuse answers a request with a fault that costs nothing.
func (s *Server) refuse(w http.ResponseWriter, f Fault) (done bool) {
	switch f {
	case TooMany:
		s.failAs(w, tooMany, false)
	case TooManyNew:
		s.failAs(w, concurrentLimit, true)
	case Busy:
		w.Header().Set("Retry-After", strconv.Itoa(BusySeconds))
		s.failAs(w, problem{http.StatusTooManyRequests, "rate_limit_error", "system_busy",
			"We are sorry, the system is experiencing heavy traffic, please try again."}, false)
	case RateLimited:
		now := time.Now().UTC()
		w.Header().Set("Date", now.Format(http.TimeFormat))
		w.Header().Set("Retry-After", now.Add(RateLimitedSeconds*time.Second).Format(http.TimeFormat))
		s.failAs(w, problem{http.StatusTooManyRequests, "rate_limit_error", "rate_limit_exceeded", "Rate limit exceeded."}, true)
	case NoQuota:
		s.failAs(w, quotaExceeded(10000, 28, 178), false)
	case NoKeyQuota:
		s.failAs(w, problem{http.StatusUnauthorized, "invalid_request", "quota_exceeded",
			"This request exceeds your API key (worker) quota of 10000. You have 68 credits remaining, while 156 credits are required for this request."}, true)
	case BadKey:
		s.fail(w, invalidKey)
	case VoiceGone:
		s.fail(w, voiceNotFound("it"))
	case PlanTooSmall:
		s.failAs(w, problem{http.StatusForbidden, "authorization_error", "only_for_creator+", "Only users on Creator or higher plans can do this."}, false)
	case PlanNotPaid:
		write(w, http.StatusPaymentRequired, map[string]any{"detail": map[string]any{
			"type": "payment_required", "code": "paid_plan_required", "status": "payment_required",
			"message": "Free users cannot use library voices via the API.", "request_id": w.Header().Get("request-id"), "param": nil,
		}})
	case Unprocessable:
		unprocessable(w, "Field required", "body", "text")
	case ServerError:
		s.fail(w, problem{http.StatusInternalServerError, "server_error", "internal_server_error", "An unexpected error occurred."})
	case Unavailable:
		write(w, http.StatusServiceUnavailable, map[string]string{"detail": "Service Unavailable"})
	case Gateway:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte(htmlPage))
	case Reset:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

// spoil answers a request that is paid with something else than its audio.
func (s *Server) spoil(w http.ResponseWriter, r *http.Request, f Fault, audio []byte) (done bool) {
	header := w.Header()
	header.Set("Content-Type", "audio/pcm")
	switch f {
	case LateReset:
		panic(http.ErrAbortHandler)
	case SlowBody:
		drip(w, r, audio)
	case CutBody:
		header.Set("Content-Length", strconv.Itoa(len(audio)))
		_, _ = w.Write(audio[:len(audio)/2])
		panic(http.ErrAbortHandler)
	case ShortAudio:
		_, _ = w.Write(audio[:len(audio)/40*2])
	case OddAudio:
		_, _ = w.Write(audio[:len(audio)-1])
	case Silence:
		_, _ = w.Write(make([]byte, len(audio)))
	case Empty:
		header.Set("Content-Length", "0")
	case JSONAudio:
		write(w, http.StatusOK, map[string]string{"audio_base64": "UklGRg==", "voice": "it"})
	case ErrorAudio:
		s.failAs(w, problem{http.StatusOK, "server_error", "system_busy", "Please try again."}, true)
	case HTMLAudio:
		header.Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(htmlPage))
	default:
		return false
	}
	return true
}

// drip sends audio a thousand times slower than it is heard, until the client has
// had enough.
func drip(w http.ResponseWriter, r *http.Request, audio []byte) {
	for at := 0; at < len(audio); at += 2 {
		if _, err := w.Write(audio[at:min(at+2, len(audio))]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // a client that is gone ends the writes
		select {
		case <-time.After(50 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
}
