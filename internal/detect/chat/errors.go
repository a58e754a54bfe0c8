package chat

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/fault"
)

// How long to wait where a server that is busy or loading doesn't say.
const (
	busyWait    = 5 * time.Second
	maxWait     = 5 * time.Minute
	maxErrorLen = 300 // characters of a server's message that are passed on
)

// Codes that more than one place knows.
const (
	codeLoading      = "loading"
	codeUnauthorized = "unauthorized"
)

// failure is an error as servers send it: {"error":{...}}, {"error":"..."}, or
// {"detail":...}.
type failure struct{ message, kind string }

// classify returns the fault of a response, nil for a usable one. What decides
// is the message where a status is used for several things: llama-server answers
// a client's mistakes with 500.
func classify(status int, header http.Header, body []byte) *fault.Error {
	f := parseFailure(body)
	if status == http.StatusOK {
		if f == nil {
			return nil
		}
		status = http.StatusInternalServerError // some proxies put errors into a 200
	}
	if f == nil {
		f = &failure{message: fmt.Sprintf("status %d without a readable error", status)}
	}
	out := &fault.Error{Kind: fault.Permanent, Code: "refused", Err: fmt.Errorf("the server says %d: %s", status, f.message)}
	lower := strings.ToLower(f.message + " " + f.kind)
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		out.Kind, out.Code, out.Hint = fault.Pause, codeUnauthorized, "check the chat server's key, then resume"
	case status == http.StatusPaymentRequired, strings.Contains(lower, "insufficient_quota"):
		out.Kind, out.Code, out.Hint = fault.Pause, "quota_exceeded", "the account has no credit left: add some, then resume"
	case status == http.StatusTooManyRequests:
		out.Kind, out.Code, out.RetryAfter = fault.Wait, "busy", retryAfter(header, time.Now())
	case status == http.StatusServiceUnavailable:
		out.Kind, out.Code, out.RetryAfter = fault.Wait, "unavailable", retryAfter(header, time.Now())
		if strings.Contains(lower, "loading") {
			out.Code = codeLoading
		}
	case status == http.StatusNotFound:
		out.Code, out.Hint = "not_found", "check the model's name and the server's address"
	case exceedsContext(lower):
		out.Code, out.Hint = "context_exceeded", "the clip and its exemplars don't fit the model's window"
	case audioUnsupported(lower):
		out.Code, out.Hint = "audio_unsupported", "start the server with its audio part (llama-server: --mmproj; vLLM: vllm[audio])"
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusConflict:
		out.Kind, out.Code = fault.Transient, "server_error"
	case status >= 500 && status != http.StatusNotImplemented && !clientMistake(lower):
		out.Kind, out.Code = fault.Transient, "server_error"
	}
	return out
}

func exceedsContext(lower string) bool {
	return strings.Contains(lower, "exceed_context") || strings.Contains(lower, "maximum context length") ||
		strings.Contains(lower, "context_length_exceeded") || strings.Contains(lower, "longer than the maximum model length")
}

func audioUnsupported(lower string) bool {
	return strings.Contains(lower, "audio input is not supported") || strings.Contains(lower, "does not support audio") ||
		strings.Contains(lower, "is not a multimodal model") || strings.Contains(lower, "at most 0 audio")
}

// clientMistakes are what llama-server answers with 500 although the same
// request can never succeed.
var clientMistakes = []string{
	"json.exception", "parse error", "invalid base64", "input is not supported",
	"cannot use both", "cannot make get request", "failed to parse",
}

func clientMistake(lower string) bool {
	for _, m := range clientMistakes {
		if strings.Contains(lower, m) {
			return true
		}
	}
	return false
}

// parseFailure returns nil where body holds no error.
func parseFailure(body []byte) *failure {
	var envelope struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
		Object string          `json:"object"`
		Text   string          `json:"message"` // of an older vLLM
	}
	if json.Unmarshal(body, &envelope) != nil {
		return nil
	}
	raw := envelope.Error
	if len(raw) == 0 || string(raw) == "null" {
		raw = envelope.Detail
	}
	if len(raw) == 0 || string(raw) == "null" {
		if envelope.Object == "error" {
			return &failure{message: printable(envelope.Text)}
		}
		return nil
	}
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return &failure{message: printable(plain)}
	}
	var object struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    any    `json:"code"` // a number or a word
	}
	if json.Unmarshal(raw, &object) != nil || object.Message == "" {
		return &failure{message: printable(string(raw))}
	}
	return &failure{message: printable(object.Message), kind: fmt.Sprint(object.Type, " ", object.Code)}
}

// printable makes one short line of what a server sent.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if runes := []rune(text); len(runes) > maxErrorLen {
		return string(runes[:maxErrorLen]) + "..."
	}
	return text
}

// retryAfter reads Retry-After in seconds or as an HTTP date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	wait := busyWait
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
		wait = time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second))
	} else if date, err := http.ParseTime(value); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), maxWait)
}
