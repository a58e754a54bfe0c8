package elevenlabs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/speech"
)

// cause is what an error means: the fault's kind, code and hint.
type cause struct {
	kind fault.Kind
	code string
	hint string
}

// The codes of the concurrency limit and of an account out of credits, for those
// who act on them.
const (
	CodeConcurrency = speech.CodeConcurrency
	CodeQuota       = "quota_exceeded"
)

const plan = "the account's plan doesn't include this: upgrade it, or choose another voice or format"

// causes is by the service's own code: statuses say too little (401 is a bad key,
// an empty account or a voice that is gone). Codes of both generations of the API
// are here.
var causes = map[string]cause{
	"quota_exceeded": {fault.Pause, CodeQuota, "add credits or raise the key's limit, then resume"},

	"invalid_api_key":           {fault.Pause, "invalid_api_key", "give the worker a valid key, then resume"},
	"needs_authorization":       {fault.Pause, "invalid_api_key", "give the worker a valid key, then resume"},
	"missing_permissions":       {fault.Pause, "missing_permissions", "let the key read voices and make speech, then resume"},
	"detected_unusual_activity": {fault.Pause, "account_blocked", "the service has blocked the account: see its site, then resume"},

	"max_character_limit_exceeded": {fault.Permanent, "text_too_long", "the turn is longer than the model takes"},
	"voice_not_found":              {fault.Permanent, "voice_not_found", "is the voice in the account? Shared voices can be withdrawn"},
	"model_not_found":              {fault.Permanent, "model_not_found", "choose another model"},
	"invalid_voice_settings":       {fault.Permanent, "voice_params", "correct the voice's params in its pool"},
	"paid_plan_required":           {fault.Permanent, "plan_too_small", plan},
	"output_format_not_allowed":    {fault.Permanent, "plan_too_small", plan},

	"too_many_concurrent_requests": {fault.Wait, CodeConcurrency, "fewer calls at once"},
	"concurrent_limit_exceeded":    {fault.Wait, CodeConcurrency, "fewer calls at once"},
	"system_busy":                  {fault.Wait, "system_busy", ""},
	"rate_limit_exceeded":          {fault.Wait, "rate_limit_exceeded", ""},
}

// byStatus is for errors without a code that is known.
func byStatus(status int, retryAfter bool) cause {
	switch {
	case status == http.StatusUnauthorized:
		return cause{fault.Pause, "unauthorized", "check the key and the account, then resume"}
	case status == http.StatusPaymentRequired:
		return cause{fault.Pause, "payment_required", "settle the account, then resume"}
	case status == http.StatusTooManyRequests:
		return cause{fault.Wait, "busy", ""}
	case status == http.StatusServiceUnavailable, status >= 500 && retryAfter:
		return cause{fault.Wait, "unavailable", ""}
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status == http.StatusOK:
		return cause{fault.Transient, "server_error", ""}
	case status == http.StatusNotFound, status >= 300 && status < 400:
		return cause{fault.Permanent, "not_found", "check the base URL"}
	case status == http.StatusUnprocessableEntity:
		return cause{fault.Permanent, "bad_request", ""}
	}
	return cause{fault.Permanent, "refused", ""}
}

// refused returns the fault of a reply that says no. What it repeats of the reply
// is without the key: a server or a proxy may echo it.
func (c client) refused(op string, r reply) error {
	e := parseError(r.Body)
	e.message = printable(c.Redact(e.message))
	e.codes = slices.DeleteFunc(e.codes, func(code string) bool { return c.Redact(code) != code })
	wait, said := retryAfter(r.Header)
	why := byStatus(r.Status, said)
	for _, code := range e.codes {
		if strings.HasPrefix(code, "only_for_") {
			code = "paid_plan_required"
		}
		if known, ok := causes[code]; ok {
			why = known
			break
		}
	}
	out := &fault.Error{
		Kind: why.kind, Op: op, Code: why.code, Hint: why.hint,
		Err: withID(fmt.Errorf("the service says %d %s", r.Status, e), r.id),
	}
	if why.kind == fault.Wait {
		out.RetryAfter = jittered(wait, op+r.id)
	}
	if n, ok := missing(e.message); ok && why.code == CodeQuota {
		out.Hint = fmt.Sprintf("%d credits are missing for this turn: %s", n, why.hint)
	}
	return out
}

// serviceError is what the service says of an error.
type serviceError struct {
	codes   []string // the most exact first
	message string
}

func (e serviceError) String() string {
	if len(e.codes) == 0 {
		return e.message
	}
	return e.codes[0] + ": " + e.message
}

var plainCode = regexp.MustCompile(`^[a-z0-9_+]{1,64}$`)

// parseError reads an error in any of the service's shapes:
//
//	{"detail": {"status": "...", "message": "..."}}
//	{"detail": {"type": "...", "code": "...", "message": "...", "request_id": "...", "param": "..."}}
//	{"detail": [{"loc": ["body", "text"], "msg": "...", "type": "..."}]}
//	{"detail": "..."}
//
// What is none of them, a proxy's page say, has no code.
func parseError(body []byte) serviceError {
	unreadable := serviceError{message: "without a readable error"}
	var envelope struct{ Detail json.RawMessage }
	if json.Unmarshal(body, &envelope) != nil || len(envelope.Detail) == 0 {
		return unreadable
	}
	var object struct{ Code, Status, Type, Message string }
	if json.Unmarshal(envelope.Detail, &object) == nil {
		e := serviceError{message: object.Message}
		for _, code := range []string{object.Code, object.Status, object.Type} {
			if plainCode.MatchString(code) {
				e.codes = append(e.codes, code)
			}
		}
		return e
	}
	var list []struct {
		Loc []any
		Msg string
	}
	if json.Unmarshal(envelope.Detail, &list) == nil {
		var parts []string
		for _, item := range list {
			parts = append(parts, strings.Trim(fmt.Sprint(item.Loc), "[]")+": "+item.Msg)
		}
		return serviceError{message: strings.Join(parts, "; ")}
	}
	var text string
	if json.Unmarshal(envelope.Detail, &text) == nil {
		return serviceError{message: text}
	}
	return unreadable
}

var credits = regexp.MustCompile(`([0-9]{1,12}) (?:credits|characters) remaining, while ([0-9]{1,12}) (?:credits|characters) are required`)

// missing reads from an account's refusal how many credits it lacks.
func missing(message string) (n int, ok bool) {
	match := credits.FindStringSubmatch(message)
	if match == nil {
		return 0, false
	}
	left, _ := strconv.Atoi(match[1]) // twelve digits fit
	required, _ := strconv.Atoi(match[2])
	return required - left, required > left
}

// printable makes one short line of what the service sent.
func printable(text string) string {
	const most = 300 // characters
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}
