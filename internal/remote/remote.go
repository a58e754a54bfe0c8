// Package remote makes bounded HTTP calls to one service: a reply has a size and a
// time, nothing follows a redirect, and the service's key is in no error.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/secret"
)

// CodeConnection is the code of a call that found no server, or lost it.
const CodeConnection = "connection"

// maxError is how much is read of a reply that isn't a 200, in bytes.
const maxError = 64 << 10

// Root returns a service's address without a trailing /v1. The error never repeats
// the address: somebody may have put a key into it.
func Root(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return "", errors.New("the base URL can't be read: use https://host or http://host:port")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("the base URL must be https://host or http://host:port")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", errors.New("the base URL must hold no user, query or fragment: a key has a setting of its own")
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}

// Config says how to reach a service.
type Config struct {
	Root    string        // as Root returns it
	Key     secret.Text   // "" is none
	Header  string        // that carries the key,
	Scheme  string        // after this, e.g. "Bearer "
	Timeout time.Duration // of a call, from its first byte to its last
	Hint    string        // what to do where no server answers
	HTTP    *http.Client  // nil is the default one
}

// Service is a service to call. Its key lives in closures only, so that no print of
// it shows the key.
type Service struct {
	http      http.Client
	root      string
	timeout   time.Duration
	hint      string
	authorize func(*http.Request)
	redact    func(string) string
}

// New returns the service. It calls nobody.
func New(c Config) *Service {
	s := &Service{root: c.Root, timeout: c.Timeout, hint: c.Hint, redact: c.Key.Redact}
	if c.HTTP != nil {
		s.http = *c.HTTP
	}
	// A redirect would carry the body, and the key, to somewhere else.
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.authorize = func(r *http.Request) {
		if c.Key != "" {
			r.Header.Set(c.Header, c.Scheme+string(c.Key))
		}
	}
	return s
}

// Root returns the address that calls go to.
func (s *Service) Root() string { return s.root }

// Redact returns text without the service's key.
func (s *Service) Redact(text string) string { return s.redact(text) }

// Call is one request.
type Call struct {
	Op     string // what is tried, for errors
	Method string
	Path   string
	Body   any   // sent as JSON; nil is none
	Limit  int64 // of a 200's body, in bytes
}

// Reply is what the service answered, whatever its status.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte // at most the call's limit of a 200, 64 KiB of others
	Cut    bool   // there was more of it
}

// Do makes a call. It fails, with a fault, where no whole reply came; of a reply
// that isn't a 200 the status is enough. A cancelled context stays one.
func (s *Service) Do(ctx context.Context, c Call) (Reply, error) {
	inner, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	r, err := s.request(inner, c)
	if err != nil {
		return Reply{}, fault.Permanentf(c.Op, "bad_request", "%s", s.redact(err.Error()))
	}
	response, err := s.http.Do(r)
	if err != nil {
		return Reply{}, s.broken(ctx, inner, c.Op, err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end, or given up
	limit, ok := c.Limit, response.StatusCode == http.StatusOK
	if !ok {
		limit = maxError
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil && (ok || ctx.Err() != nil) {
		return Reply{}, s.broken(ctx, inner, c.Op, err)
	}
	out := Reply{Status: response.StatusCode, Header: response.Header, Body: body}
	if int64(len(body)) > limit {
		out.Body, out.Cut = body[:limit], true
	}
	return out, nil
}

func (s *Service) request(ctx context.Context, c Call) (*http.Request, error) {
	var body io.Reader
	if c.Body != nil {
		data, err := json.Marshal(c.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, c.Method, s.root+c.Path, body)
	if err != nil {
		return nil, err
	}
	if c.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	s.authorize(r)
	return r, nil
}

// broken is a call that ended without a whole reply.
func (s *Service) broken(ctx, inner context.Context, op string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, ctx.Err())
	case inner.Err() != nil:
		return &fault.Error{Kind: fault.Transient, Op: op, Code: "timeout", Err: fmt.Errorf("no whole reply within %s", s.timeout)}
	default:
		return &fault.Error{Kind: fault.Transient, Op: op, Code: CodeConnection, Err: errors.New(s.redact(err.Error())), Hint: s.hint}
	}
}
