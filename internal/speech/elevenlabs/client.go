package elevenlabs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/secret"
)

// How much is read of a reply that isn't audio, in bytes.
const (
	maxError       = 64 << 10
	maxDescription = 1 << 20
)

// client speaks HTTP to the service. The key lives in closures only, so that no
// print of a client shows it.
type client struct {
	http      *http.Client
	base      string // without /v1
	timeout   time.Duration
	authorize func(*http.Request)
	redact    func(string) string
}

func newClient(c Config) (*client, error) {
	base, problem := baseURL(c.BaseURL)
	key := secret.Text(strings.TrimSpace(string(c.APIKey)))
	switch {
	case key == "":
		problem = errors.Join(problem, errors.New("no API key"))
	case strings.ContainsFunc(string(key), func(r rune) bool { return r <= ' ' || r > '~' }):
		problem = errors.Join(problem, errors.New("the API key holds a space or another character that no key has"))
	}
	own := http.Client{}
	if c.HTTP != nil {
		own = *c.HTTP
	}
	// A redirect would carry the text, and the key, to somewhere else.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{
		http: &own, base: base, timeout: c.Timeout,
		authorize: func(r *http.Request) { r.Header.Set("xi-api-key", string(key)) },
		redact:    key.Redact,
	}, problem
}

// baseURL returns the service's address without /v1. The error never repeats the
// address: somebody may have put a key into it.
func baseURL(text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return "", errors.New("the base URL can't be read: use https://host or http://host:port")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("the base URL must be https://host or http://host:port")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", errors.New("the base URL must hold no user, query or fragment: the key has a setting of its own")
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}

// call is one request, and what is said of it when it fails.
type call struct {
	op     string
	method string
	path   string
	body   any   // sent as JSON; nil is none
	limit  int64 // of a 200's body, in bytes
}

// reply is what the service answered.
type reply struct {
	status int
	header http.Header
	body   []byte
	id     string // the request's, for the service's support; "" when it tells none
}

// number is what a header says, 0 when it says nothing that makes sense.
func (r reply) number(header string) int {
	n, err := strconv.Atoi(r.header.Get(header))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// withID adds a request's id to an error.
func withID(err error, id string) error {
	if id == "" {
		return err
	}
	return fmt.Errorf("%w, request %s", err, id)
}

// do makes a call and returns a 200. Every other outcome is a fault; a cancelled
// context stays one.
func (c *client) do(ctx context.Context, a call) (reply, error) {
	var body io.Reader
	if a.body != nil {
		data, err := json.Marshal(a.body)
		if err != nil {
			return reply{}, fault.Permanentf(a.op, "bad_request", "%w", err)
		}
		body = bytes.NewReader(data)
	}
	inner, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(inner, a.method, c.base+a.path, body)
	if err != nil {
		return reply{}, fault.Permanentf(a.op, "bad_request", "%s", c.redact(err.Error()))
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	c.authorize(r)
	response, err := c.http.Do(r)
	if err != nil {
		return reply{}, c.broken(ctx, inner, a.op, err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end, or given up
	limit := a.limit
	if response.StatusCode != http.StatusOK {
		limit = maxError
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	out := reply{
		status: response.StatusCode, header: response.Header, body: data,
		id: printable(c.redact(response.Header.Get("request-id"))),
	}
	switch {
	// A refusal that was cut short still has a status, which is enough.
	case err != nil && (out.status == http.StatusOK || ctx.Err() != nil):
		return reply{}, c.broken(ctx, inner, a.op, err)
	case out.status != http.StatusOK:
		return reply{}, c.refused(a.op, out)
	case int64(len(data)) > limit:
		return reply{}, &fault.Error{
			Kind: fault.Transient, Op: a.op, Code: "reply_too_large",
			Err: withID(fmt.Errorf("the reply is larger than %d bytes", limit), out.id),
		}
	case len(parseError(data).codes) > 0: // some proxies put errors into a 200
		return reply{}, c.refused(a.op, out)
	}
	return out, nil
}

// broken is a request that ended without a whole reply.
func (c *client) broken(ctx, inner context.Context, op string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, ctx.Err())
	case inner.Err() != nil:
		return &fault.Error{Kind: fault.Transient, Op: op, Code: "timeout", Err: fmt.Errorf("no whole reply within %s", c.timeout)}
	default:
		return &fault.Error{
			Kind: fault.Transient, Op: op, Code: "connection", Err: errors.New(c.redact(err.Error())),
			Hint: "can this worker reach " + c.base + "?",
		}
	}
}
