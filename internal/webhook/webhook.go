// Package webhook tells somebody else's server what happened: one signed POST of
// bounded size, after which the answer's status decides.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/secret"
)

const (
	// MaxBody bounds what is sent, in bytes.
	MaxBody = 64 << 10
	// Timeout bounds one call, from its first byte to its last.
	Timeout = 20 * time.Second

	maxReply = 4 << 10 // what is read of an answer, in bytes
	op       = "call the webhook"
)

// The headers.
const (
	HeaderDelivery  = "Speechmanip-Delivery"  // the same for every try of one delivery
	HeaderTimestamp = "Speechmanip-Timestamp" // of the try, seconds since 1970
	HeaderSignature = "Speechmanip-Signature" // as Sign returns it
)

// Hook is where to call, and the key that both sides know. The address is a secret
// too: many services put a token into it.
type Hook struct {
	URL secret.Text
	Key secret.Text
}

// Validate refuses an address that can't be called and a missing key. The error
// repeats neither.
func (h Hook) Validate() error {
	u, err := url.Parse(string(h.URL))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the address must begin with https:// or http:// and name a host")
	case h.Key == "":
		return errors.New("it needs a key to sign with")
	}
	return nil
}

// Delivery is one message.
type Delivery struct {
	ID   string // by which a receiver knows a repeated try
	Time time.Time
	Body []byte // JSON
}

// Sign returns the signature of a body: "sha256=" and the hex HMAC-SHA256, under the
// key, of the timestamp, a dot and the body.
func Sign(key secret.Text, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Send makes one try. A status from 200 to 299 is success. Where another try may help
// the fault is Transient, else Permanent. Of the address a fault names the host at most.
func Send(ctx context.Context, client *http.Client, h Hook, d Delivery) error {
	if err := h.Validate(); err != nil {
		return &fault.Error{Kind: fault.Permanent, Op: op, Code: "bad_webhook", Err: err}
	}
	if len(d.Body) > MaxBody {
		return fault.Permanentf(op, "too_large", "the message has %d bytes, at most %d are sent", len(d.Body), MaxBody)
	}
	inner, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(inner, http.MethodPost, string(h.URL), bytes.NewReader(d.Body))
	if err != nil {
		return fault.Permanentf(op, "bad_webhook", "the address can't be called")
	}
	timestamp := strconv.FormatInt(d.Time.Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "speechmanip")
	r.Header.Set(HeaderDelivery, d.ID)
	r.Header.Set(HeaderTimestamp, timestamp)
	r.Header.Set(HeaderSignature, Sign(h.Key, timestamp, d.Body))
	// A redirect would carry the message to somewhere else.
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := direct.Do(r)
	if err != nil {
		return unreached(ctx, inner, h, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxReply)) // so that the connection can be used again
	return answered(response.StatusCode)
}

// unreached leaves out the address, with which net/http begins its errors.
func unreached(ctx, inner context.Context, h Hook, err error) error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, ctx.Err())
	case inner.Err() != nil:
		return &fault.Error{Kind: fault.Transient, Op: op, Code: "timeout", Err: fmt.Errorf("no answer within %s", Timeout)}
	}
	return &fault.Error{Kind: fault.Transient, Op: op, Code: "connection", Err: errors.New(h.URL.Redact(err.Error()))}
}

func answered(status int) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		return &fault.Error{Kind: fault.Transient, Op: op, Code: "refused", Err: fmt.Errorf("it answered %d", status)}
	case status >= 300 && status < 400:
		return fault.Permanentf(op, "redirected", "it answered %d: give the address that it redirects to", status)
	}
	return fault.Permanentf(op, "refused", "it answered %d", status)
}
