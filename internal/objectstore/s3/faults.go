package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// defaultWait is how long a throttled caller waits when the server doesn't say.
const defaultWait = 5 * time.Second

// objectFault turns an error of the SDK about one object into ErrNotFound or
// another fault. verb completes "<verb> object <key>".
func (s *Store) objectFault(ctx context.Context, verb, key string, err error) error {
	code := codeOf(err)
	if code == "NoSuchKey" || statusOf(err) == http.StatusNotFound && code != "NoSuchBucket" {
		return objectstore.NotFound(key)
	}
	return s.fault(ctx, fmt.Sprintf("%s object %q", verb, key), err)
}

// fault turns an error of the SDK into one that says what has to happen next. What
// no call to the store will get past, whichever object it is about, pauses.
// The SDK's error isn't wrapped: its text is long, and a server may echo keys.
func (s *Store) fault(ctx context.Context, op string, err error) error {
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%s: %w", op, cause)
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return s.transportFault(op, err)
	}
	status := statusOf(err)
	f := &fault.Error{Op: op, Err: s.answer(api, status)}
	switch code := api.ErrorCode(); {
	case code == "NoSuchBucket":
		f.Kind, f.Code = fault.Pause, "no_bucket"
		f.Hint = fmt.Sprintf("run `starter setup` to make bucket %q at %s, or correct its name", s.bucket, s.endpoint)
	case slices.Contains(full, code) || status == http.StatusInsufficientStorage:
		f.Kind, f.Code = fault.Pause, "store_full"
		f.Hint = "make space in the object store (`starter gc` lists what may go), then resume what is paused"
	case status == http.StatusMethodNotAllowed:
		f.Kind, f.Code = fault.Pause, "store_read_only"
		f.Hint = fmt.Sprintf("make bucket %q at %s writable again, then resume what is paused", s.bucket, s.endpoint)
	case code == "RequestTimeTooSkewed":
		f.Kind, f.Code, f.Hint = fault.Pause, "access_denied", "set this machine's clock"
	case status == http.StatusUnauthorized || status == http.StatusForbidden || slices.Contains(expired, code):
		f.Kind, f.Code = fault.Pause, "access_denied"
		f.Hint = fmt.Sprintf("check the access key, the secret key and what they may do in bucket %q at %s", s.bucket, s.endpoint)
	case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests || slices.Contains(throttled, code):
		f.Kind, f.Code, f.RetryAfter = fault.Wait, "slow_down", retryAfter(err)
	case status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect || code == "AuthorizationHeaderMalformed":
		f.Kind, f.Code = fault.Permanent, "wrong_region"
		f.Hint = fmt.Sprintf("bucket %q is in another region than %s", s.bucket, s.region)
	case permanentStatus(status) && code != "RequestTimeout":
		f.Kind, f.Code = fault.Permanent, "refused"
	default:
		f.Kind, f.Code = fault.Transient, "server_error"
	}
	return f
}

var (
	full      = []string{"QuotaExceeded", "XMinioAdminBucketQuotaExceeded"}
	expired   = []string{"ExpiredToken", "InvalidToken", "TokenRefreshRequired"}
	throttled = []string{"SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequests"}
)

// permanentStatus reports the answers that stay the same when asked again.
func permanentStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return false
	case http.StatusNotImplemented:
		return true
	}
	return status >= 400 && status < 500
}

// transportFault is for calls that got no answer.
func (s *Store) transportFault(op string, err error) error {
	f := &fault.Error{
		Kind: fault.Transient,
		Op:   op,
		Code: "no_answer",
		Err:  errors.New(s.clean(innermost(err))),
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		f.Code = "unreachable"
		f.Hint = fmt.Sprintf("is the S3 server at %s running, and is the endpoint right?", s.endpoint)
	}
	return f
}

// innermost drops the SDK's account of its attempts, and the URL.
func innermost(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err.Error()
	}
	return err.Error()
}

// answer is what the server said, without keys, at a readable length.
func (s *Store) answer(api smithy.APIError, status int) error {
	text := api.ErrorCode()
	if message := api.ErrorMessage(); message != "" && message != text {
		text += ": " + message
	}
	return fmt.Errorf("the server answered %d %s", status, s.clean(text))
}

func (s *Store) clean(text string) string {
	const longest = 300
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s.redact(text))
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "..."
	}
	return text
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// statusOf returns the HTTP status of the answer, 0 when there was none.
func statusOf(err error) int {
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// retryAfter reads the header in seconds or as a date.
func retryAfter(err error) time.Duration {
	var response *awshttp.ResponseError
	if !errors.As(err, &response) || response.Response == nil {
		return defaultWait
	}
	value := response.Response.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		if wait := time.Until(at); wait > 0 {
			return wait
		}
	}
	return defaultWait
}
